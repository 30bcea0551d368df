export * from './client.ts';
export * from './contract.ts';
export * from './floodgate-error.ts';
export type { ClientOptions } from './options.ts';
export type { ListOptions, RegistrationListing } from './registration-listing.ts';
export * from './results.ts';
export * from './verify-webhook.ts';
