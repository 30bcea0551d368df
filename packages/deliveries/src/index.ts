export * from './deliveries.ts';
export * from './queues.ts';
export * from './send-loop.ts';
