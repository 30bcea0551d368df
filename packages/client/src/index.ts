export * from './client.ts';
export * from './contract.ts';
export * from './floodgate-error.ts';
export type { ClientOptions, Retry } from './options.ts';
export type { RevocationList, RevokedPassesOptions } from './passes.ts';
export type { ListOptions, RegistrationListing } from './registration-listing.ts';
export * from './results.ts';
export {
  verifyPass,
  type DoorSettings,
  type PassKeySet,
  type PassRefusal,
  type PassVerdict,
  type Revocations,
  type RevocationsFault,
} from './verify-pass.ts';
export * from './verify-webhook.ts';
export type { Webhooks } from './webhooks.ts';
