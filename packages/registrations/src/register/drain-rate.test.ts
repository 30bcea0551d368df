import { expect, test } from 'vitest';
import { createDrainRate } from './drain-rate.ts';

const GROUP_LIMIT = 1_000;

function measured(...groups: [committed: number, groupMs: number][]) {
  const drainRate = createDrainRate(GROUP_LIMIT);
  for (const group of groups) drainRate.measure(...group);
  return drainRate;
}

const often = (group: [number, number]) => Array.from({ length: 100 }, () => group);

test('those who wait are served at the rate of the last groups', () => {
  const steady = often([500, 250]);
  expect(measured(...steady).secondsFor(3_000, 0)).toBeCloseTo(1.5, 2);
  expect(measured(...often([10, 5_000]), ...steady).secondsFor(3_000, 0)).toBeCloseTo(1.5, 2);
});

test('one group that is slow or small does not tell much', () => {
  const seconds = measured(...often([500, 250]), [1, 250]).secondsFor(3_000, 0);
  expect(seconds).toBeGreaterThan(1.5);
  expect(seconds).toBeLessThan(2);
});

test('the longer the group under way is stuck, and the more groups commit nothing, the longer it takes', () => {
  const steady = often([500, 250]);
  const one = measured(...steady);
  expect(one.secondsFor(3_000, 2_500)).toBeCloseTo(3, 2);
  expect(one.secondsFor(3_000, 25_000)).toBeGreaterThan(15);
  expect(measured(...steady, ...often([0, 100])).secondsFor(10, 0)).toBeGreaterThan(15);
});

test('before the first group there is an idea of it, and nobody waits where nobody is', () => {
  expect(measured().secondsFor(GROUP_LIMIT, 0)).toBeLessThan(1);
  expect(measured(...often([0, 100])).secondsFor(0, 100)).toBe(0);
});
