export * from './actions.ts';
export * from './delivery.ts';
export { expireAttempts, recordAttempt } from './deliver/attempts.ts';
export type { Resolve } from './deliver/checked-agent.ts';
export { createDelivery } from './deliver/deliver.ts';
export { buildTestMessage, readMessages } from './deliver/messages.ts';
export * from './endpoints.ts';
export * from './notices.ts';
export * from './signatures.ts';
