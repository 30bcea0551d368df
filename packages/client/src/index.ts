export * from './client.ts';
export * from './contract.ts';
export * from './floodgate-error.ts';
export type { ClientOptions, Retry } from './options.ts';
export type { RevocationList, RevokedPassesOptions, SignedEventOptions, VerifiedEvent } from './passes.ts';
export type { ListOptions, RegistrationListing } from './registration-listing.ts';
export * from './results.ts';
export type {
  EventDocument,
  EventFault,
  PassKeySet,
  Revocations,
  RevocationsFault,
} from './signed-documents.ts';
export { verifyPass, type DoorSettings, type PassRefusal, type PassVerdict } from './verify-pass.ts';
export * from './verify-webhook.ts';
export type { Webhooks } from './webhooks.ts';
