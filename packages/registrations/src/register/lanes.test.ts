import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lanes, type Partner } from './lanes.ts';
import { createWaitingRoom } from './waiting-room.ts';

interface Order {
  partnerId: number;
  seats: number;
  submittedAt: number;
}

const weighing = (weight: number) => (partnerId: number) => ({ partnerId, weight });
const equal = weighing(1);

/** Lanes with this many orders of each. */
function fill(groupLimit: number, ...orders: [partner: Partner, seats: number, count?: number][]) {
  const lanes = new Lanes<Order>(groupLimit);
  for (const one of orders) add(lanes, ...one);
  return lanes;
}

function add(lanes: Lanes<Order>, partner: Partner, seats: number, count = 1): void {
  for (let number = 0; number < count; number++)
    lanes.add(partner, { partnerId: partner.partnerId, seats, submittedAt: number });
}

/** Seats of each partner. */
function seatsIn(orders: readonly Order[]): Record<number, number> {
  const seats: Record<number, number> = {};
  for (const one of orders) seats[one.partnerId] = (seats[one.partnerId] ?? 0) + one.seats;
  return seats;
}

const takeGroups = (lanes: Lanes<Order>, count: number) =>
  Array.from({ length: count }, () => lanes.takeGroup());

const anOrder = fc.record({
  partnerId: fc.integer({ min: 1, max: 4 }),
  seats: fc.integer({ min: 1, max: 30 }),
});

/** As many as fit, in order; one that is too large alone. */
function firstInFirstOut(groupLimit: number, orders: readonly Order[]): Order[][] {
  const groups: Order[][] = [];
  let left = 0;
  for (const one of orders) {
    if (groups.length === 0 || one.seats > left) {
      groups.push([]);
      left = groupLimit;
    }
    groups.at(-1)!.push(one);
    left -= one.seats;
  }
  return groups;
}

test('with one partner it is first in, first out, and groups are as full as they can be', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(anOrder), (groupLimit, drawn) => {
      const orders = drawn.map((one, submittedAt) => ({ ...one, submittedAt }));
      const lanes = new Lanes<Order>(groupLimit);
      for (const one of orders) lanes.add(equal(1), one);
      const expected = firstInFirstOut(groupLimit, orders);
      expect(takeGroups(lanes, expected.length + 1)).toEqual([...expected, []]);
    }),
  );
});

test('whoever comes and goes, a partner is served in order, nothing is lost, and no group is too large', () => {
  const step = fc.oneof(anOrder, fc.constant('group' as const));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200 }), (groupLimit, steps) => {
      const lanes = new Lanes<Order>(groupLimit);
      const added: Order[] = [];
      const groups: Order[][] = [];
      for (const [submittedAt, one] of steps.entries()) {
        if (one === 'group') groups.push(lanes.takeGroup());
        else {
          added.push({ ...one, submittedAt });
          lanes.add(weighing(one.partnerId)(one.partnerId), added.at(-1)!);
        }
      }
      while (lanes.size > 0) {
        groups.push(lanes.takeGroup());
        expect(groups.at(-1)).not.toEqual([]);
      }
      expect(lanes.seats).toBe(0);
      const taken = groups.flat();
      for (const partnerId of [1, 2, 3, 4]) {
        const of = (orders: Order[]) => orders.filter((one) => one.partnerId === partnerId);
        expect(of(taken)).toEqual(of(added));
      }
      for (const group of groups)
        if (group.length > 1)
          expect(group.reduce((sum, { seats }) => sum + seats, 0)).toBeLessThanOrEqual(groupLimit);
    }),
  );
});

test('who floods it keeps nobody else from the next group', () => {
  const lanes = fill(100, [equal(1), 1, 10_000], [equal(2), 1, 10]);
  expect(seatsIn(lanes.takeGroup())).toEqual({ 1: 90, 2: 10 });
  add(lanes, equal(2), 1);
  expect(seatsIn(lanes.takeGroup())).toEqual({ 1: 99, 2: 1 });
});

test('a little is in the next group, however many others wait', () => {
  const lanes = new Lanes<Order>(200);
  for (let partnerId = 1; partnerId <= 50; partnerId++) add(lanes, equal(partnerId), 1, 1_000);
  lanes.takeGroup();
  add(lanes, equal(99), 1, 3);
  expect(seatsIn(lanes.takeGroup())[99]).toBe(3);
});

test('seats go by weight, whatever is asked for at once', () => {
  const lanes = fill(100, [weighing(1)(1), 1, 20_000], [weighing(3)(2), 40, 500], [weighing(6)(3), 7, 3_000]);
  const seats = seatsIn(takeGroups(lanes, 100).flat());
  const total = seats[1]! + seats[2]! + seats[3]!;
  expect(seats[1]! / total).toBeCloseTo(0.1, 1);
  expect(seats[2]! / total).toBeCloseTo(0.3, 1);
  expect(seats[3]! / total).toBeCloseTo(0.6, 1);
});

test('a weight counts from the next order on', () => {
  const lanes = fill(100, [equal(1), 1, 10_000], [equal(2), 1, 10_000]);
  expect(seatsIn(lanes.takeGroup())).toEqual({ 1: 50, 2: 50 });
  add(lanes, weighing(3)(2), 1);
  const seats = seatsIn(takeGroups(lanes, 40).flat());
  expect(seats[2]! / seats[1]!).toBeGreaterThan(2.7);
});

test('an order that is larger than a turn, or than a group, gets its turn beside any flood of others', () => {
  const lanes = fill(100, [equal(1), 90, 20], [equal(2), 1, 1_000], [equal(3), 500]);
  const groups = takeGroups(lanes, 20);
  const seats = seatsIn(groups.flat());
  expect(seats[3]).toBe(500);
  expect(groups.find(([first]) => first?.partnerId === 3)).toHaveLength(1);
  expect(seats[1]! / seats[2]!).toBeGreaterThan(0.7);
  expect(seats[1]! / seats[2]!).toBeLessThan(1.4);
});

test('who asks for little never waits for two large orders in a row', () => {
  const lanes = fill(100, [equal(1), 50, 10], [equal(2), 90, 10]);
  lanes.takeGroup();
  const groups: Record<number, number>[] = [];
  for (let round = 0; round < 6; round++) {
    add(lanes, equal(3), 1, 2);
    groups.push(seatsIn(lanes.takeGroup()));
  }
  expect(groups.map((seats) => seats[3])).toEqual([2, 2, 2, 2, 2, 2]);
  expect(groups.map((seats) => (seats[1] ?? 0) + (seats[2] ?? 0) > 0)).toEqual([
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
});

test('what did not fit goes first, though others with little come before each group', () => {
  const lanes = fill(100, [equal(1), 100, 10]);
  let large = 0;
  for (let round = 0; round < 40; round++) {
    add(lanes, equal(2 + round), 1);
    large += seatsIn(lanes.takeGroup())[1] ?? 0;
  }
  expect(large).toBe(1_000);
});

test('what is overdue is taken from every lane, and what is left takes its turns', () => {
  const lanes = fill(10, [equal(1), 4, 5], [equal(2), 1, 3]);
  expect(seatsIn(lanes.takeOverdue(2))).toEqual({ 1: 8, 2: 2 });
  expect([lanes.size, lanes.seats]).toEqual([4, 13]);
  expect(seatsIn(lanes.takeGroup())).toEqual({ 1: 8, 2: 1 });
  expect(seatsIn(lanes.takeOverdue(Infinity))).toEqual({ 1: 4 });
  expect(lanes.takeGroup()).toEqual([]);
});

/** A room on which an item is its number of seats. */
function createRoom(groupLimit: number, waitingLimit: number) {
  const room = createWaitingRoom<number, string>({
    groupLimit,
    waitingLimit,
    answerWithinMs: 1_000,
    seatsOf: (seats) => seats,
  });
  const enter = (partner: Partner, seats = 1) => room.enter(seats, partner, () => {});
  /** How many orders come in until one is refused. */
  const enterMany = (partner: Partner, seats = 1) => {
    let count = 0;
    while (enter(partner, seats)) count += 1;
    expect(room.hasRoom(partner, seats)).toBe(false);
    return count;
  };
  return { ...room, enter, enterMany };
}

test('a full room refuses who fills it; others come in up to their share', () => {
  const room = createRoom(10, 100);
  expect(room.enterMany(equal(1))).toBe(100);
  expect(room.enterMany(equal(2))).toBe(50);
  expect(room.enterMany(weighing(2)(3))).toBe(50);
  expect(room.enter(equal(1))).toBe(false);
});

test('nobody is refused while there is room, whatever their share', () => {
  const room = createRoom(10, 100);
  expect(room.enter(equal(2))).toBe(true);
  expect(room.enterMany(equal(1))).toBe(99);
});

test('a large order of who waits for nothing comes into a full room, one at a time', () => {
  const room = createRoom(10, 100);
  room.enterMany(equal(1));
  expect(room.enter(equal(2), 80)).toBe(true);
  expect(room.enter(equal(2), 80)).toBe(false);
});

test('a room with one partner lets in what is larger than it only where nobody waits', () => {
  const room = createRoom(10, 100);
  expect(room.enter(equal(1), 200)).toBe(true);
  expect(room.enter(equal(1))).toBe(false);
  room.takeGroup();
  expect(room.enter(equal(1))).toBe(true);
  expect(room.enter(equal(1), 200)).toBe(false);
});

test('however many partners come, no more wait than twice what there is room for, and one order', () => {
  const room = createRoom(10, 100);
  for (let partnerId = 1; partnerId <= 1_000; partnerId++)
    room.enterMany(equal(partnerId), 1 + (partnerId % 30));
  expect(room.seats()).toBeGreaterThan(150);
  expect(room.seats()).toBeLessThanOrEqual(200 + 30);
});

test('when groups become slow, who waits for little still comes in beside who filled the room before', () => {
  const room = createRoom(10, 100);
  room.enterMany(equal(1));
  for (let group = 0; group < 4; group++) room.measure(9_000);
  expect(room.enterMany(equal(2))).toBe(5);
});
