export type { onRequestHookHandler, preValidationAsyncHookHandler } from 'fastify';
export { itemFaults } from './answer-errors.ts';
export { announcedBytes, requestsOf } from './bodies/admit-body.ts';
export * from './capability.ts';
export { createFairQueue } from './fair-queue.ts';
export { parseReferenceDemo } from './reference-demo.ts';
export * from './server.ts';
export { closeServer } from './strict/connections.ts';
export { withoutBody } from './without-body.ts';
