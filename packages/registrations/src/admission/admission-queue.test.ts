import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { AdmissionQueue, type AdmissionOptions } from './admission-queue.ts';
import type { Partner } from './partner-queues.ts';

const ONE = { partnerId: 1, weight: 1 };

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

/** Opens a queue whose commits end when the test ends them. An item is a number. Its outcome is its text. */
function start(differing: Partial<AdmissionOptions<number, string>> = {}) {
  const groups: { items: number[]; end: () => void }[] = [];
  const options: AdmissionOptions<number, string> = {
    commit: (items) =>
      new Promise((resolve) => groups.push({ items, end: () => resolve(items.map((item) => `${item}`)) })),
    groupLimit: 100,
    waitingLimit: 100,
    answerWithinMs: 60_000,
    unitsOf: (item) => Math.max(1, Math.floor(item / 1_000)),
    overloaded: 'overloaded',
    unknown: 'unknown',
    clock,
    ...differing,
  };
  const commit = new AdmissionQueue(options, 0);
  let ended = 0;
  const group = {
    admit: (partner = ONE) => commit.admits(partner),
    submit: (item: number, partner = ONE, since?: number) => commit.submit(item, partner, since),
    secondsToDrain: () => commit.secondsToDrain(),
    drain: () => commit.drain(),
    servesSmallItems: () => commit.servesSmallItems(),
    state: () => commit.state,
  };
  const endNext = async () => {
    groups[ended++]!.end();
    // In the first turn the commit settles, in the second its first answers are given.
    await yieldToEventLoop();
    await yieldToEventLoop();
  };
  return { group, endNext, items: () => groups.map((one) => one.items) };
}

test('an idle queue commits an item in the same tick, without a timer', async () => {
  const { group, endNext, items } = start();
  const outcome = group.submit(1);
  await yieldToEventLoop();
  expect(items()).toEqual([[1]]);
  await endNext();
  expect(await outcome).toBe('1');
});

test('items of the same tick form one group', async () => {
  const { group, endNext, items } = start();
  const outcomes = Promise.all([group.submit(1), group.submit(2)]);
  await yieldToEventLoop();
  expect(items()).toEqual([[1, 2]]);
  await endNext();
  expect(await outcomes).toEqual(['1', '2']);
});

test('items that arrive while a group is in flight wait for its end, then form one group', async () => {
  const { group, endNext, items } = start();
  const first = group.submit(1);
  await yieldToEventLoop();
  const later = Promise.all([2, 3, 4].map((item) => group.submit(item)));
  await yieldToEventLoop();
  expect(items()).toEqual([[1]]);
  await endNext();
  expect(items()).toEqual([[1], [2, 3, 4]]);
  await endNext();
  expect([await first, await later]).toEqual(['1', ['2', '3', '4']]);
});

test('under load the next group leaves when as many wait as are unanswered', async () => {
  const { group, endNext, items } = start();
  let answered = 0;
  // As partners do: each answer is soon followed by a new item.
  const answers: Promise<unknown>[] = [];
  for (let item = 0; item < 64; item++) {
    const first = group.submit(item);
    const second = first.then(() => {
      answered += 1;
      return group.submit(100 + item);
    });
    answers.push(second);
  }
  await yieldToEventLoop();
  expect(items().map(({ length }) => length)).toEqual([64]);
  await endNext();
  let answeredBefore = answered;
  while (items().length === 1) {
    answeredBefore = answered;
    await yieldToEventLoop();
  }
  expect(items()[1]).toHaveLength(32);
  expect(answeredBefore).toBeLessThan(64);
  await endNext();
  for (let turn = 0; turn < 4; turn++) await yieldToEventLoop();
  await endNext();
  await Promise.all(answers);
  expect(items().flat()).toHaveLength(128);
});

test('answers are given in order, a few at a time, so that others can be read in between', async () => {
  const { group, endNext } = start();
  const answered: number[] = [];
  for (let item = 0; item < 40; item++) void group.submit(item).then(() => answered.push(item));
  await yieldToEventLoop();
  await endNext();
  const afterFirstTurns = answered.length;
  expect(afterFirstTurns).toBeLessThan(40);
  await yieldToEventLoop();
  await yieldToEventLoop();
  expect(answered).toEqual(Array.from({ length: 40 }, (_, item) => item));
});

test('answers keep up with arrivals: a share of those that are due is given in each turn', async () => {
  const { group, endNext } = start({ groupLimit: 1_000, waitingLimit: 1_000 });
  let answered = 0;
  for (let item = 0; item < 1_000; item++) void group.submit(item).then(() => (answered += 1));
  await yieldToEventLoop();
  await endNext();
  const due = 1_000 - answered;
  await yieldToEventLoop();
  expect(answered - (1_000 - due)).toBe(Math.ceil(due / 4));
  for (let turn = 0; turn < 15; turn++) await yieldToEventLoop();
  expect(answered).toBe(1_000);
});

test('a group takes as many as it may, in order; the rest goes next', async () => {
  const { group, endNext, items } = start({ groupLimit: 2 });
  const outcomes = Promise.all([1, 2, 3, 4, 5].map((item) => group.submit(item)));
  await yieldToEventLoop();
  for (let round = 0; round < 3; round++) await endNext();
  expect(items()).toEqual([[1, 2], [3, 4], [5]]);
  expect(await outcomes).toEqual(['1', '2', '3', '4', '5']);
});

test('past the waiting limit an item is refused at once; those in flight do not count', async () => {
  const { group, endNext, items } = start({ waitingLimit: 2 });
  const first = group.submit(1);
  await yieldToEventLoop();
  const waiting = Promise.all([group.submit(2), group.submit(3)]);
  expect(await group.submit(4)).toBe('overloaded');
  await endNext();
  const next = group.submit(5);
  await endNext();
  await endNext();
  expect([await first, await waiting, await next]).toEqual(['1', ['2', '3'], '5']);
  expect(items()).toEqual([[1], [2, 3], [5]]);
});

/** Commits one group that takes this long. */
async function takeMs(groupMs: number, { group, endNext }: ReturnType<typeof start>): Promise<void> {
  void group.submit(0);
  await yieldToEventLoop();
  clock.block(groupMs);
  await endNext();
}

/** Returns how many items may wait while one is in flight. */
async function roomOf({ group }: ReturnType<typeof start>): Promise<number> {
  void group.submit(0);
  await yieldToEventLoop();
  let room = 0;
  for (; group.admit(); room++) void group.submit(0);
  return room;
}

test.each([
  ['as many as are configured while groups are quick', [10, 10, 10, 10], 100],
  ['as many as before after three slow groups', [10, 2_000, 2_000, 2_000], 100],
  ['as many whole groups as are committed in an eighth of the time when they are slow', [90, 60, 80, 70], 20],
  ['one group however slow they are', [9_000, 9_000, 9_000, 9_000], 10],
  ['as many as are configured once groups are quick again', [9_000, 9_000, 9_000, 9_000, 10], 100],
])('there is room for %s', async (_many, groupsMs, room) => {
  const started = start({ groupLimit: 10, waitingLimit: 100, answerWithinMs: 1_000 });
  for (const groupMs of groupsMs) await takeMs(groupMs, started);
  expect(await roomOf(started)).toBe(room);
  expect(await started.group.submit(0)).toBe('overloaded');
});

test('how long those who wait will take follows from the groups before, and from one that is stuck or committed nothing', async () => {
  const started = start({ groupLimit: 10, answerWithinMs: 100_000 });
  for (let group = 0; group < 100; group++) await takeMs(500, started);
  expect(started.group.secondsToDrain()).toBe(0);
  void started.group.submit(0);
  await yieldToEventLoop();
  for (let item = 0; item < 10; item++) void started.group.submit(item);
  // The pace is one item in half a second.
  expect(started.group.secondsToDrain()).toBeCloseTo(5, 1);
  await clock.advance(5_000);
  expect(started.group.secondsToDrain()).toBeCloseTo(10, 1);
});

test('what is refused by the commit does not count as drained', async () => {
  const served = start();
  const failing = start({ overloaded: '0' });
  for (const started of [served, failing]) {
    for (let group = 0; group < 100; group++) await takeMs(500, started);
    void started.group.submit(0);
    await yieldToEventLoop();
    void started.group.submit(0);
  }
  expect(failing.group.secondsToDrain()).toBeGreaterThan(10 * served.group.secondsToDrain());
});

test('refusals, however many come in one turn, keep nobody who is served from an answer', async () => {
  const { group, endNext, items } = start({ groupLimit: 64, waitingLimit: 64 });
  let answered = 0;
  const fill = () => {
    for (let item = 0; item < 64; item++) void group.submit(item).then(() => (answered += 1));
  };
  fill();
  await yieldToEventLoop();
  fill();
  const ended = endNext();
  // The event loop does not reach its next turn, as while it reads sockets.
  while (items().length === 1) await Promise.resolve();
  fill();
  for (let refused = 0; refused < 64 * 8; refused++) void group.submit(-1);
  await Promise.resolve();
  expect(answered).toBeGreaterThan(32);
  await ended;
});

test('items of many units count as that many: a group takes as many as it may, and a larger one goes alone', async () => {
  const { group, endNext, items } = start({ groupLimit: 5, waitingLimit: 20 });
  const outcomes = Promise.all([1, 3_000, 2, 3_001, 9_000, 3].map((item) => group.submit(item)));
  await yieldToEventLoop();
  for (let round = 0; round < 4; round++) await endNext();
  expect(items()).toEqual([[1, 3_000, 2], [3_001], [9_000], [3]]);
  expect(await outcomes).toEqual(['1', '3000', '2', '3001', '9000', '3']);
});

test('there is room for so many units; what is larger than all of it waits where nobody else does', async () => {
  const { group, endNext } = start({ groupLimit: 5, waitingLimit: 10 });
  const first = group.submit(1);
  await yieldToEventLoop();
  const large = group.submit(12_000);
  expect(await group.submit(2)).toBe('overloaded');
  await endNext();
  await endNext();
  expect([await first, await large]).toEqual(['1', '12000']);
  const others = [8_000, 3_000, 2_000].map((item) => group.submit(item));
  expect(await others[1]).toBe('overloaded');
  await yieldToEventLoop();
  await endNext();
  await endNext();
  expect([await others[0], await others[2]]).toEqual(['8000', '2000']);
});

test('an item that waits too long is overloaded and never committed', async () => {
  const { group, endNext, items } = start({ answerWithinMs: 1_000 });
  void group.submit(1);
  await yieldToEventLoop();
  await clock.advance(500);
  const overdue = group.submit(2);
  await clock.advance(600);
  const inTime = group.submit(3);
  await clock.advance(500);
  expect(await overdue).toBe('overloaded');
  await endNext();
  expect(items()).toEqual([[1], [3]]);
  await endNext();
  expect(await inTime).toBe('3');
});

test('the time that was spent before counts, also behind an item with more time', async () => {
  const { group, endNext, items } = start({ answerWithinMs: 1_000 });
  void group.submit(1);
  await yieldToEventLoop();
  const inTime = group.submit(2);
  const overdue = group.submit(3, ONE, clock.now() - 600);
  await clock.advance(400);
  expect(await overdue).toBe('overloaded');
  await endNext();
  expect(items()).toEqual([[1], [2]]);
  await endNext();
  expect(await inTime).toBe('2');
});

test('an item whose group is in flight for too long is unknown, and a late outcome changes nothing', async () => {
  const { group, endNext } = start({ answerWithinMs: 1_000 });
  const underWay = group.submit(1);
  await yieldToEventLoop();
  const settled = vi.fn<(outcome: string) => void>();
  void underWay.then(settled);
  await clock.advance(850);
  await yieldToEventLoop();
  expect(settled).not.toHaveBeenCalled();
  await clock.advance(150);
  expect(await underWay).toBe('unknown');
  await endNext();
  expect(settled.mock.calls).toEqual([['unknown']]);
});

test('what is committed is never unknown, however late its answer is given', async () => {
  const { group, endNext } = start({ answerWithinMs: 1_000 });
  const outcomes = Promise.all(Array.from({ length: 40 }, (_, item) => group.submit(item)));
  await yieldToEventLoop();
  clock.block(800);
  await endNext();
  clock.block(1_000);
  expect(await outcomes).toEqual(Array.from({ length: 40 }, (_, item) => `${item}`));
});

test.each([3_000, 100])(
  'within %i ms everything is answered, and nothing in the first half',
  async (answerWithinMs) => {
    const { group } = start({ answerWithinMs });
    const answered: string[] = [];
    void group.submit(1).then((outcome) => answered.push(outcome));
    await yieldToEventLoop();
    void group.submit(2).then((outcome) => answered.push(outcome));
    await clock.advance(answerWithinMs / 2);
    await yieldToEventLoop();
    expect(answered).toEqual([]);
    await clock.advance(answerWithinMs / 2);
    await yieldToEventLoop();
    expect(answered).toEqual(['unknown', 'overloaded']);
  },
);

test('drain resolves when everything that was submitted is answered', async () => {
  const { group, endNext } = start({ groupLimit: 1 });
  const answered: string[] = [];
  for (const item of [1, 2]) void group.submit(item).then((outcome) => answered.push(outcome));
  const drained = group.drain().then(() => [...answered]);
  await yieldToEventLoop();
  await endNext();
  await endNext();
  expect(await drained).toEqual(['1', '2']);
});

test('small items count as being served for a second after the last one; large ones do not count', async () => {
  const { group } = start({ groupLimit: 1_000, waitingLimit: 1_000 });
  void group.submit(100_000);
  expect(group.servesSmallItems()).toBe(false);
  void group.submit(1);
  await clock.advance(999);
  expect(group.servesSmallItems()).toBe(true);
  await clock.advance(1);
  expect(group.servesSmallItems()).toBe(false);
});

test('an idle queue has no timer', async () => {
  const { group, endNext } = start();
  void group.submit(1);
  await yieldToEventLoop();
  expect(clock.pending).toBe(1);
  await endNext();
  await clock.advance(100);
  expect([group.state(), clock.pending]).toEqual(['idle', 0]);
});

test('drain resolves at once where nothing was submitted', async () => {
  await start().group.drain();
});

test('outcomes that the commit gives go to their own items', async () => {
  const commit = (items: number[]) =>
    Promise.resolve(items.map((item) => (item % 2 ? 'overloaded' : `seat ${item}`)));
  const { group } = start({ commit });
  const outcomes = await Promise.all([0, 1, 2, 3].map((item) => group.submit(item)));
  expect(outcomes).toEqual(['seat 0', 'overloaded', 'seat 2', 'overloaded']);
});

test('it is idle, committing, then answering', async () => {
  const { group, endNext } = start();
  expect(group.state()).toBe('idle');
  const outcomes = Promise.all(Array.from({ length: 40 }, (_, item) => group.submit(item)));
  await yieldToEventLoop();
  expect(group.state()).toBe('committing');
  await endNext();
  expect(group.state()).toBe('answering');
  await outcomes;
  await yieldToEventLoop();
  expect(group.state()).toBe('idle');
});

const equal = (partnerId: number) => ({ partnerId, weight: 1 });

/**
 * Opens a queue whose first item is in flight, so that the others wait. An item of n thousand has n units.
 */
async function startFull(differing: Partial<AdmissionOptions<number, string>> = {}) {
  const started = start({ groupLimit: 10, waitingLimit: 100, ...differing });
  void started.group.submit(1, equal(99));
  await yieldToEventLoop();
  const admits = async (partner: Partner, units = 1) =>
    (await Promise.race([started.group.submit(units * 1_000, partner), yieldToEventLoop('waits')])) ===
    'waits';
  /** Returns how many items are admitted until one is refused. */
  const admitMany = async (partner: Partner, units = 1) => {
    let count = 0;
    while (await admits(partner, units)) count += 1;
    return count;
  };
  return { ...started, admits, admitMany };
}

test('a full queue refuses the partner that fills it; others are admitted up to their share', async () => {
  const { admits, admitMany } = await startFull();
  expect(await admitMany(equal(1))).toBe(100);
  expect(await admitMany(equal(2))).toBe(50);
  expect(await admitMany({ partnerId: 3, weight: 2 })).toBe(50);
  expect(await admits(equal(1))).toBe(false);
});

test('nobody is refused while there is room, whatever their share', async () => {
  const { admits, admitMany } = await startFull();
  expect(await admits(equal(2))).toBe(true);
  expect(await admitMany(equal(1))).toBe(99);
});

test('a full queue admits a large item of a partner that has nothing queued, one at a time', async () => {
  const { admits, admitMany } = await startFull();
  await admitMany(equal(1));
  expect(await admits(equal(2), 80)).toBe(true);
  expect(await admits(equal(2), 80)).toBe(false);
});

test('an item that is larger than the whole queue is admitted only if its partner has nothing queued', async () => {
  const { admits, endNext } = await startFull();
  expect(await admits(equal(1), 200)).toBe(true);
  expect(await admits(equal(1))).toBe(false);
  await endNext();
  expect(await admits(equal(1))).toBe(true);
  expect(await admits(equal(1), 200)).toBe(false);
});

test('when groups become slow, a partner with little is admitted beside one that filled the queue before', async () => {
  const started = start({ groupLimit: 10, waitingLimit: 100, answerWithinMs: 1_000 });
  for (let group = 0; group < 4; group++) await takeMs(9_000, started);
  void started.group.submit(0, equal(99));
  await yieldToEventLoop();
  while (started.group.admit(equal(1))) void started.group.submit(0, equal(1));
  let admitted = 0;
  for (; started.group.admit(equal(2)); admitted++) void started.group.submit(0, equal(2));
  expect(admitted).toBe(5);
});
