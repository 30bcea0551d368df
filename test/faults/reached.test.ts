import { expect, test } from 'vitest';
import { FAULTS } from './faults.ts';
import type { CallRecord } from './history.ts';
import { countReached, missedOf, PAIRS, sumReached, type Facts } from './reached.ts';

const NOTHING: Facts = {
  struck: [],
  calls: [],
  expiredAt: [],
  batches: [],
  offers: [],
  leasedThroughout: 0,
  waitedForRetry: 0,
  leasesLost: 0,
  mailsTwice: 0,
  webhooksTwice: 0,
};
const CRASH = 'Postgres crashed';

const call = (
  name: string,
  start: number,
  end: number | null,
  more: Partial<CallRecord> = {},
): CallRecord => ({
  call: name,
  event: 0,
  start,
  end,
  answer: end === null ? null : '00',
  seats: [{ ticket: 1, id: 'a' }],
  ...more,
});

/** What a round with a fault from 100 to 200 ms has met. */
const reachedBy = (facts: Partial<Facts>, fault = CRASH) =>
  countReached({ ...NOTHING, struck: [{ fault, from: 100, to: 200 }], ...facts })[fault]!;

test('a call is in flight if it overlaps with the fault, also one that was never answered', () => {
  const calls = [
    call('register', 0, 99),
    call('register', 50, 100),
    call('register', 150, null),
    call('register', 201, 300),
  ];
  expect(reachedBy({ calls })['registration in flight']).toBe(2);
});

test('a hold has expired while the fault lasted', () => {
  expect(reachedBy({ expiredAt: [99, 150, 201] })['hold expired']).toBe(1);
});

test('an offer is open until it ends, and is answered by a call about its entry', () => {
  const offers = [
    { from: 0, to: 50 },
    { from: 0, to: Infinity },
  ];
  const calls = [call('confirm', 150, 160, { id: 'entry' }), call('confirm', 150, 160)];
  expect(reachedBy({ offers, calls })).toMatchObject({ 'offer open': 1, 'answer to an offer in flight': 1 });
});

test('an unknown outcome counts when the call was repeated and answered', () => {
  const again = [call('register', 120, null), call('register', 300, 310)];
  const never = [call('register', 120, null, { seats: [{ ticket: 1, id: 'b' }] })];
  const reached = reachedBy({ calls: [...again, ...never] }, 'API killed');
  expect(reached['unknown outcome, repeated']).toBe(1);
});

test('missed pairs are named, and counts of rounds are added', () => {
  const rounds = [
    reachedBy({ expiredAt: [150] }),
    reachedBy({ expiredAt: [150, 160], batches: [{ from: 0, to: 150 }] }),
  ];
  const sum = sumReached(rounds.map((states) => ({ [CRASH]: states })));
  expect(sum[CRASH]).toMatchObject({ 'hold expired': 3, 'batch pending': 1 });
  const missed = missedOf([{ name: CRASH }, { name: 'without pairs' }], sum);
  expect(missed).toContainEqual({ fault: CRASH, state: 'offer open' });
  expect(missed).not.toContainEqual({ fault: CRASH, state: 'hold expired' });
});

test('a fault that did not strike has missed all of its pairs', () => {
  expect(missedOf([{ name: CRASH }], {})).toHaveLength(PAIRS[CRASH]!.length);
});

test('every fault with pairs exists', () => {
  const names = FAULTS.map(({ name }) => name);
  expect(Object.keys(PAIRS).filter((name) => !names.includes(name))).toEqual([]);
});
