export { openBackend, watchQueue } from './backend.ts';
export * from './consumer.ts';
export * from './jobs.ts';
export { grantQueue, migrateQueue } from './postgres-backend.ts';
export * from './producer.ts';
export { reportQueue } from './report-queue.ts';
export * from './settings.ts';
