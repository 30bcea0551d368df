import * as client from '@floodgate/client/contract';
import * as service from '@floodgate/contract';
import { expect, test } from 'vitest';

// The client's own copy of the contract, which partners install, is what the service goes by.

type Fits<Given, Wanted> = Given extends Wanted ? true : false;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

// Compared by the type checker.
const SAME: [
  Same<client.ResponseCode, service.ResponseCode>,
  Same<client.RegistrationRequest, service.RegistrationRequest>,
  Same<client.Ticket, service.Ticket>,
  Same<client.RegistrationStatus, service.RegistrationStatus>,
  Same<client.RegistrationList, service.RegistrationList>,
  Same<client.LaunchState, service.LaunchState>,
  Same<client.TestEventReset, service.TestEventReset>,
  Same<client.AttendeePass, service.AttendeePass>,
  Same<client.RevokedPasses, service.RevokedPasses>,
] = [true, true, true, true, true, true, true, true, true];

// The service may have more.
const FITS: [
  Fits<client.WebhookRequest, service.WebhookRequest>,
  Fits<client.WebhookChange, service.WebhookChange>,
  Fits<service.Webhook, client.Webhook>,
  Fits<service.WebhookWithSecret, client.WebhookWithSecret>,
  Fits<service.WebhookAttempt, client.WebhookAttempt>,
] = [true, true, true, true, true];

test('the response codes are those of the catalogue, with their messages', () => {
  const catalogue = Object.entries(service.RESPONSE_CODES).map(([code, { message, retryable = false }]) => [
    code,
    { message, retryable },
  ]);
  expect(client.RESPONSE_CODES).toEqual(Object.fromEntries(catalogue));
});

test('the limits are those of the service', () => {
  const { BULK_LIMIT, BULK_BODY_LIMIT_BYTES, BODY_LIMIT_BYTES } = service;
  expect(client).toMatchObject({ BULK_LIMIT, BULK_BODY_LIMIT_BYTES, BODY_LIMIT_BYTES });
  expect([...SAME, ...FITS]).not.toContain(false);
});
