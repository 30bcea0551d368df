export type { FastifySchema, onRequestHookHandler, preValidationAsyncHookHandler } from 'fastify';
export { drain } from './connections.ts';
export { countRefusal, refusals, refusalsOfEvents } from './answer-errors.ts';
export { announcedBytes, requestsOf } from './read-requests.ts';
export { itemFaults, listInvalidFields, type InvalidField } from './faults.ts';
export * from './server.ts';
