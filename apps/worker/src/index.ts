export * from './config.ts';
export * from './health.ts';
export * from './start-worker.ts';
