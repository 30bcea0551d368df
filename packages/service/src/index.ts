export * from './deadline.ts';
export * from './failure.ts';
export * from './load-config.ts';
export * from './log.ts';
export * from './repeat.ts';
export * from './run-service.ts';
