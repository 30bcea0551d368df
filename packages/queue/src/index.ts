export { openBackend } from './backend.ts';
export * from './consumer.ts';
export * from './jobs.ts';
export { grantQueue, migrateQueue } from './postgres-backend.ts';
export * from './producer.ts';
export * from './settings.ts';
export * from './watch-queue.ts';
export * from './worker-capability.ts';
