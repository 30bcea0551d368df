import type { Principal } from '@floodgate/http';
import { expect, test } from 'vitest';
import { drawPassCode, toReservation } from './reservation.ts';

const PRINCIPAL = {
  shardId: 0,
  partnerId: 1,
  eventId: 1001,
  duplicatePolicy: 'allow',
  duplicateScope: 'event',
} as Principal;
const REQUEST = {
  fullName: 'Jane Doe',
  emailAddress: 'jane.doe@example.com',
  phoneNumber: '5550199',
  gender: 'f',
  tableOrSeat: 'A 1',
  organizedEventTicketID: 3,
  extraData1: 'vegan',
  extraData2: 'front',
  partnerReference: 'order-1',
};
const KEY = { 'idempotency-key': 'key' };

const fingerprintOf = (request: typeof REQUEST, headers: Record<string, string> = KEY) =>
  toReservation(PRINCIPAL, request, headers).idempotency?.fingerprint;

test('the same request has the same fingerprint, whatever the order of its fields and what is ignored', () => {
  const reversed = Object.fromEntries(Object.entries(REQUEST).toReversed()) as typeof REQUEST;
  expect(fingerprintOf(reversed)).toBe(fingerprintOf(REQUEST));
  expect(fingerprintOf({ ...REQUEST, unknown: 1 } as typeof REQUEST)).toBe(fingerprintOf(REQUEST));
});

test.for(Object.keys(REQUEST) as (keyof typeof REQUEST)[])(
  'a request with another %s has another fingerprint',
  (field) => {
    const value = field === 'organizedEventTicketID' ? 4 : 'other';
    expect(fingerprintOf({ ...REQUEST, [field]: value })).not.toBe(fingerprintOf(REQUEST));
  },
);

test('a hold has another fingerprint than a registration, and without a key there is none', () => {
  expect(fingerprintOf(REQUEST, { ...KEY, 'hold-for': '60' })).not.toBe(fingerprintOf(REQUEST));
  expect(fingerprintOf(REQUEST, {})).toBeUndefined();
});

test('pass codes have ten digits and are not drawn twice', () => {
  const codes = Array.from({ length: 2_000 }, drawPassCode);
  expect(codes.every((code) => /^[1-9][0-9]{9}$/.test(String(code)))).toBe(true);
  // Two of 2,000 codes out of 9 billion are equal in one run of 4,500.
  expect(new Set(codes).size).toBeGreaterThan(1_997);
  // Every leading digit occurs, so the whole range is used.
  expect(new Set(codes.map((code) => String(code)[0])).size).toBe(9);
});
