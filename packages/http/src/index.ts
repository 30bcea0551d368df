export type { FastifySchema, onRequestHookHandler, preValidationAsyncHookHandler } from 'fastify';
export { drain } from './connections.ts';
export { countRefusal, recentRefusals, refusals, refusalsOfEvents } from './refusals.ts';
export { announcedBytes, requestsOf } from './read-requests.ts';
export { itemFaults, listInvalidFields, type InvalidField } from './faults.ts';
export * from './server.ts';
