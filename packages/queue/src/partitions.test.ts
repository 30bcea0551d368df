import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashSlot, partitionOf, partitionPrefixes } from './partitions.ts';

const prefixesOf = (namespace: string) => partitionPrefixes({ kind: 'redis-cluster' }, namespace);

/** What is in braces is all that counts for the slot. */
const slotOf = (prefix: string) => hashSlot(/^\{(.*)\}$/.exec(prefix)![1]!);

/** Returns how many of the slots each of so many masters has, as `redis-cli --cluster create` divides them. */
function perMaster(slots: readonly number[], masters: number): number[] {
  const counts = Array.from({ length: masters }, () => 0);
  for (const slot of slots) counts[Math.floor((slot * masters) / 16_384)]! += 1;
  return counts;
}

test.for(['redis', 'redis-sentinel', 'postgres'] as const)('on %s a queue has one part', (kind) => {
  expect(partitionPrefixes({ kind }, 'floodgate')).toEqual(['{floodgate}']);
});

test('these are the parts on a cluster: jobs lie there, so no release may change them unawares', () => {
  expect(prefixesOf('floodgate')).toEqual([
    '{floodgate}',
    ...[357, 164, 48, 461, 163, 373, 460, 212, 259, 356, 194].map((suffix) => `{floodgate-${suffix}}`),
  ]);
});

test.for([2, 3, 4, 6, 12])('the parts of any namespace lie evenly on %i masters', (masters) => {
  for (let count = 0; count < 50; count += 1) {
    const slots = prefixesOf(`t${randomBytes(6).toString('hex')}`).map(slotOf);
    const counts = perMaster(slots, masters);
    // A part that lies at the border of two masters may lie on either.
    for (const ofOne of counts) expect(Math.abs(ofOne - 12 / masters), String(slots)).toBeLessThanOrEqual(1);
  }
});

// Of Citus, those that `migrate --shards 32` makes: they depend on its hash alone.
const CITUS_SHARDS = [
  0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 13, 16, 17, 18, 21, 22, 24, 27, 28, 31, 36, 37, 39, 41, 48, 50, 52, 58,
  62, 85, 136,
];

test('the shards of a Citus cluster are spread over all parts, and nearly evenly over three masters', () => {
  const partitions = CITUS_SHARDS.map((shardId) => partitionOf(shardId, 12));
  expect(new Set(partitions).size).toBe(12);
  const slots = prefixesOf('floodgate').map(slotOf);
  const counts = perMaster(
    partitions.map((partition) => slots[partition]!),
    3,
  );
  expect(counts.toSorted((a, b) => a - b)).toEqual([9, 11, 12]);
});

test('a key is a part of what there is; 0 is the first, and with one part all are', () => {
  for (const key of [0, 1, 2_147_483_647, 4_294_967_295, -1]) {
    expect(partitionOf(key, 12)).toBeGreaterThanOrEqual(0);
    expect(partitionOf(key, 12)).toBeLessThan(12);
    expect(partitionOf(key, 1)).toBe(0);
  }
  expect(partitionOf(0, 12)).toBe(0);
});
