export type { FastifySchema, onRequestHookHandler, preValidationAsyncHookHandler } from 'fastify';
export * from './capability.ts';
export { parseReferenceDemo } from './reference-demo.ts';
export { announcedBytes, requestsOf } from './read-requests.ts';
export { itemFaults, listInvalidFields } from './faults.ts';
export * from './server.ts';
export { closeServer } from './connections.ts';
