export * from './deliveries.ts';
export * from './outcome.ts';
export * from './send-loop.ts';
export * from './pace.ts';
