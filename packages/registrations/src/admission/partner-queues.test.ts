import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PartnerQueues, type Partner } from './partner-queues.ts';

interface Item {
  partnerId: number;
  units: number;
  since: number;
}

const weighing = (weight: number) => (partnerId: number) => ({ partnerId, weight });
const equal = weighing(1);

/** Returns queues with `count` items of each partner. */
function fill(groupLimit: number, ...items: [partner: Partner, units: number, count?: number][]) {
  const queues = new PartnerQueues<Item>(groupLimit);
  for (const one of items) add(queues, ...one);
  return queues;
}

function add(queues: PartnerQueues<Item>, partner: Partner, units: number, count = 1): void {
  for (let number = 0; number < count; number++)
    queues.add(partner, { partnerId: partner.partnerId, units, since: number });
}

/** Returns the units of each partner. */
function unitsIn(items: readonly Item[]): Record<number, number> {
  const units: Record<number, number> = {};
  for (const one of items) units[one.partnerId] = (units[one.partnerId] ?? 0) + one.units;
  return units;
}

const takeGroups = (queues: PartnerQueues<Item>, count: number) =>
  Array.from({ length: count }, () => queues.takeGroup());

const anItem = fc.record({
  partnerId: fc.integer({ min: 1, max: 4 }),
  units: fc.integer({ min: 1, max: 30 }),
});

/** Groups of as many items as fit, in order. An item that is too large is alone. */
function firstInFirstOut(groupLimit: number, items: readonly Item[]): Item[][] {
  const groups: Item[][] = [];
  let left = 0;
  for (const one of items) {
    if (groups.length === 0 || one.units > left) {
      groups.push([]);
      left = groupLimit;
    }
    groups.at(-1)!.push(one);
    left -= one.units;
  }
  return groups;
}

test('one partner is served first in, first out, and groups are as full as they can be', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(anItem), (groupLimit, drawn) => {
      const items = drawn.map((one, since) => ({ ...one, since }));
      const queues = new PartnerQueues<Item>(groupLimit);
      for (const one of items) queues.add(equal(1), one);
      const expected = firstInFirstOut(groupLimit, items);
      expect(takeGroups(queues, expected.length + 1)).toEqual([...expected, []]);
    }),
  );
});

test('partners come and go: each is served in order, nothing is lost, and no group is too large', () => {
  const step = fc.oneof(anItem, fc.constant('group' as const));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200 }), (groupLimit, steps) => {
      const queues = new PartnerQueues<Item>(groupLimit);
      const added: Item[] = [];
      const groups: Item[][] = [];
      for (const [since, one] of steps.entries()) {
        if (one === 'group') groups.push(queues.takeGroup());
        else {
          added.push({ ...one, since });
          queues.add(weighing(one.partnerId)(one.partnerId), added.at(-1)!);
        }
      }
      while (queues.items > 0) {
        groups.push(queues.takeGroup());
        expect(groups.at(-1)).not.toEqual([]);
      }
      expect(queues.units).toBe(0);
      const taken = groups.flat();
      for (const partnerId of [1, 2, 3, 4]) {
        const of = (items: Item[]) => items.filter((one) => one.partnerId === partnerId);
        expect(of(taken)).toEqual(of(added));
      }
      for (const group of groups)
        if (group.length > 1)
          expect(group.reduce((sum, { units }) => sum + units, 0)).toBeLessThanOrEqual(groupLimit);
    }),
  );
});

test('a partner that floods the queue keeps nobody else from the next group', () => {
  const queues = fill(100, [equal(1), 1, 10_000], [equal(2), 1, 10]);
  expect(unitsIn(queues.takeGroup())).toEqual({ 1: 90, 2: 10 });
  add(queues, equal(2), 1);
  expect(unitsIn(queues.takeGroup())).toEqual({ 1: 99, 2: 1 });
});

test('a partner that wants little is in the next group, however many others wait', () => {
  const queues = new PartnerQueues<Item>(200);
  for (let partnerId = 1; partnerId <= 50; partnerId++) add(queues, equal(partnerId), 1, 1_000);
  queues.takeGroup();
  add(queues, equal(99), 1, 3);
  expect(unitsIn(queues.takeGroup())[99]).toBe(3);
});

test('units are shared by weight, whatever the size of the items', () => {
  const queues = fill(
    100,
    [weighing(1)(1), 1, 20_000],
    [weighing(3)(2), 40, 500],
    [weighing(6)(3), 7, 3_000],
  );
  const units = unitsIn(takeGroups(queues, 100).flat());
  const total = units[1]! + units[2]! + units[3]!;
  expect(units[1]! / total).toBeCloseTo(0.1, 1);
  expect(units[2]! / total).toBeCloseTo(0.3, 1);
  expect(units[3]! / total).toBeCloseTo(0.6, 1);
});

test('a weight counts from the next item on', () => {
  const queues = fill(100, [equal(1), 1, 10_000], [equal(2), 1, 10_000]);
  expect(unitsIn(queues.takeGroup())).toEqual({ 1: 50, 2: 50 });
  add(queues, weighing(3)(2), 1);
  const units = unitsIn(takeGroups(queues, 40).flat());
  expect(units[2]! / units[1]!).toBeGreaterThan(2.7);
});

test('an item that is larger than a share, or than a group, is served beside any flood of others', () => {
  const queues = fill(100, [equal(1), 90, 20], [equal(2), 1, 1_000], [equal(3), 500]);
  const groups = takeGroups(queues, 20);
  const units = unitsIn(groups.flat());
  expect(units[3]).toBe(500);
  expect(groups.find(([first]) => first?.partnerId === 3)).toHaveLength(1);
  expect(units[1]! / units[2]!).toBeGreaterThan(0.7);
  expect(units[1]! / units[2]!).toBeLessThan(1.4);
});

test('while small items wait, a group has one large item, and small ones are in each group', () => {
  const queues = fill(2_000, [equal(1), 900, 6], [equal(2), 800, 6], [equal(3), 1, 6]);
  const large = (group: readonly Item[]) => group.filter(({ units }) => units >= 100).length;
  for (let round = 0; round < 4; round++) {
    add(queues, equal(4), 1, 2);
    const group = queues.takeGroup();
    expect([large(group), unitsIn(group)[4]]).toEqual([1, 2]);
  }
  // Without small items, groups are as full as they can be.
  expect(takeGroups(queues, 4).map(large)).toEqual([2, 2, 2, 2]);
  expect(queues.items).toBe(0);
});

test('an item that did not fit begins the next group, whatever new partners submit before each group', () => {
  for (const size of [100, 60]) {
    const queues = fill(100, [equal(1), size, 10]);
    let units = 0;
    for (let round = 0; round < 40; round++) {
      add(queues, equal(2 + round), 1);
      units += unitsIn(queues.takeGroup())[1] ?? 0;
    }
    expect(units).toBe(10 * size);
  }
});

test('overdue items leave every queue, and the others are served', () => {
  const queues = fill(10, [equal(1), 4, 5], [equal(2), 1, 3]);
  expect(unitsIn(queues.takeOverdue(2))).toEqual({ 1: 8, 2: 2 });
  expect([queues.items, queues.units]).toEqual([4, 13]);
  expect(unitsIn(queues.takeGroup())).toEqual({ 1: 8, 2: 1 });
  expect(unitsIn(queues.takeOverdue(Infinity))).toEqual({ 1: 4 });
  expect(queues.takeGroup()).toEqual([]);
});
