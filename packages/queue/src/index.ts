export * from './consumer.ts';
export * from './grant-queue.ts';
export * from './jobs.ts';
export * from './migrate-queue.ts';
export * from './payloads.ts';
export * from './producer.ts';
export * from './queue-url.ts';
export { UnsafeQueueError } from './redis-policy.ts';
export * from './watch-queue.ts';
