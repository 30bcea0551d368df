import { beforeEach, expect, test, vi } from 'vitest';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createCircuitBreaker, type CircuitBreaker } from './circuit-breaker.ts';
import type { Delivery } from './delivery-rows.ts';
import { outcomeOf, type Attempt } from './outcomes.ts';

const SENT: Attempt = { kind: 'sent' };
const AWAY: Attempt = { kind: 'unavailable', isDoubtful: false, reason: 'ECONNREFUSED' };
const UNKNOWN_USER: Attempt = { kind: 'refused', isPermanent: true, reason: '550' };

let clock: ManualClock;
let breaker: CircuitBreaker;
beforeEach(() => {
  clock = new ManualClock();
  breaker = createCircuitBreaker(clock);
  // Without jitter.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

/** Counts a failure and lets the time pass until messages may be sent again. Returns how long that was. */
function failOnce(): number {
  breaker.count(AWAY);
  const ms = breaker.opensForMs();
  clock.block(ms - 1);
  expect(breaker.opensForMs()).toBe(1);
  clock.block(1);
  expect(breaker.opensForMs()).toBe(0);
  return ms;
}

test('each failure in a row opens the breaker for twice as long, up to a minute', () => {
  const times = Array.from({ length: 9 }, failOnce);
  expect(times).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
});

test.each([
  ['least', 0, 375],
  ['greatest', 1, 625],
])('the %s jitter is a quarter', (_which, random, ms) => {
  vi.mocked(Math.random).mockReturnValue(random);
  expect(failOnce()).toBe(ms);
});

test('failures that arrive together open it once', () => {
  breaker.count(AWAY);
  clock.block(400);
  breaker.count(AWAY);
  expect(breaker.opensForMs()).toBe(100);
});

test('after it has opened, one message at a time is sent until one is accepted, and then it starts over', () => {
  expect(breaker.isProbing()).toBe(false);
  failOnce();
  failOnce();
  expect(breaker.isProbing()).toBe(true);
  breaker.count(SENT);
  expect(breaker.isProbing()).toBe(false);
  expect(failOnce()).toBe(500);
});

test('twenty refusals in a row open it, and one acceptance in between does not let them add up', () => {
  for (let count = 1; count < 20; count += 1) breaker.count(UNKNOWN_USER);
  breaker.count(SENT);
  for (let count = 1; count < 20; count += 1) breaker.count(UNKNOWN_USER);
  expect([breaker.refusesAll(), breaker.opensForMs()]).toEqual([false, 0]);
  breaker.count(UNKNOWN_USER);
  expect([breaker.refusesAll(), breaker.opensForMs()]).toEqual([true, 500]);
});

const delivery = (differing: Partial<Delivery>): Delivery => ({
  shardId: 0,
  eventId: 1,
  kind: 'confirmation',
  subject: '1',
  revision: 0,
  toldRevision: null,
  attempts: 0,
  possiblyTwice: false,
  isSuspect: false,
  createdAt: new Date(0),
  triedMsAgo: null,
  lease: 'lease',
  leasedAt: clock.now(),
  ...differing,
});

test('an attempt counts if the server has accepted another message since the last attempt of this one', () => {
  clock.block(60_000);
  const triedMsAgo = 10_000;
  // Tried after the other message was accepted.
  breaker.count(SENT);
  clock.block(20_000);
  expect(outcomeOf(delivery({ triedMsAgo }), AWAY, breaker)).toMatchObject({ state: 'queued', dueInMs: 500 });
  // Tried before the other message was accepted.
  clock.block(500);
  breaker.count(SENT);
  clock.block(5_000);
  expect(outcomeOf(delivery({ triedMsAgo }), AWAY, breaker)).toMatchObject({ state: 'retry', attempts: 1 });
});

test('a delivery that waited after its lease compares with the time of its last attempt, not with the lease', () => {
  const waiting = delivery({ triedMsAgo: 10_000 });
  breaker.count(SENT);
  clock.block(25_000);
  expect(outcomeOf(waiting, AWAY, breaker)).toMatchObject({ state: 'retry', attempts: 1 });
});
