export * from './client.ts';
export * from './contract.ts';
export type * from './options.ts';
export { FloodgateError } from './options.ts';
export * from './results.ts';
export type { DoorSettings } from './signed-documents.ts';
export * from './verify-pass.ts';
export * from './verify-webhook.ts';
export type { Webhooks } from './webhooks.ts';
