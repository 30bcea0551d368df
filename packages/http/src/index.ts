export type { onRequestHookHandler, preValidationAsyncHookHandler } from 'fastify';
export { announcedBytes, optionalBody, requestsOf, withoutBody } from './bodies.ts';
export * from './capability.ts';
export { parseReferenceDemo } from './reference-demo.ts';
export { itemFaults, listInvalidFields } from './faults.ts';
export * from './server.ts';
export { closeServer } from './strict/connections.ts';
