import type { Principal } from '@floodgate/http';
import { expect, test } from 'vitest';
import { isNew, refusalOf, responseOf, whyHoldTooLate, type Outcome } from './answers.ts';
import type { HeldSeat } from './holds/find-holds.ts';

const PRINCIPAL = { passPrefix: 'GALA', eventId: 1001, duplicateScope: 'event' } as Principal;
const PER_TICKET = { ...PRINCIPAL, duplicateScope: 'ticket' as const };

test('a refusal has the code of its reason, and a message of its own only where the code says too little', () => {
  expect(refusalOf(PRINCIPAL, 'sold-out')).toEqual(['32', {}]);
  expect(refusalOf(PRINCIPAL, 'allocation-sold')).toEqual([
    '32',
    { message: 'You have sold all seats that you may sell of this ticket' },
  ]);
  expect(refusalOf(PRINCIPAL, 'duplicate')).toEqual(['33', {}]);
  expect(refusalOf(PER_TICKET, 'duplicate')).toEqual([
    '33',
    { message: 'This e-mail address is already registered for the ticket' },
  ]);
  expect(refusalOf(PRINCIPAL, 'hold-limit')).toEqual(['37', {}]);
  expect(refusalOf(PRINCIPAL, 'hold-limit', { limit: 4 })).toEqual([
    '37',
    { message: 'You can hold at most 4 seats of this ticket at a time' },
  ]);
  expect(refusalOf(PRINCIPAL, 'too-late', { message: undefined })).toEqual(['35', {}]);
});

test('the message about a part of the request begins with its place', () => {
  expect(refusalOf(PRINCIPAL, 'sold-out', { field: 'tickets[1]' })).toEqual([
    '32',
    { message: 'tickets[1]: The ticket is sold out' },
  ]);
});

test('a registration is answered with its pass reference or the envelope of its refusal', () => {
  const seat = { kind: 'existing', serial: 7, passCode: 4_829_137_450 } as const;
  expect(responseOf(PRINCIPAL, seat)).toMatchObject({
    responseCode: '00',
    responseData: expect.stringMatching(/^GALA-1001-7-4829137450$/) as unknown,
  });
  expect(responseOf(PRINCIPAL, { kind: 'sold-out' })).toEqual({
    responseCode: '32',
    responseMessage: 'The ticket is sold out',
    responseData: null,
  });
});

test('only a seat that was granted now is new', () => {
  const seat = (replayed: boolean) =>
    ({ kind: 'registered', serial: 7, passCode: 4_829_137_450, replayed }) as const;
  const bulk = (replayed: boolean, ...outcomes: Exclude<Outcome, { kind: 'bulk' }>[]) =>
    ({ kind: 'bulk', outcomes, replayed }) as const;
  expect([isNew(seat(false)), isNew(seat(true))]).toEqual([true, false]);
  expect(isNew({ kind: 'existing', serial: 7, passCode: 4_829_137_450 })).toBe(false);
  expect(isNew(bulk(false, { kind: 'sold-out' }, seat(false)))).toBe(true);
  expect([isNew(bulk(true, seat(false))), isNew(bulk(false, { kind: 'sold-out' }))]).toEqual([false, false]);
});

test.for<[reason: string, ...seats: Partial<HeldSeat>[]]>([
  [
    'A seat of the hold was released meanwhile; call Get Hold for the others',
    { state: 'cancelled' },
    { state: 'held' },
  ],
  ['The hold is confirmed already', { state: 'cancelled' }, { state: 'reserved' }],
  ['The hold has expired', { state: 'cancelled', isExpired: true }],
  ['The seats of the hold were released', { state: 'cancelled', isExpired: false }],
])('a hold is too late to change: %s', ([reason, ...seats]) => {
  expect(whyHoldTooLate({ holdId: 'hold', seats: seats as HeldSeat[] })).toBe(reason);
});
