import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { createShardReads, shardLoader } from './shard-reads.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

const pass = (ms: number) => clock.advance(ms);

/** Reads that the test answers. */
function heldReads(limit: number) {
  const shardReads = createShardReads(limit, clock);
  const begun: { shardId: number; answer(): Promise<unknown>; fail(): Promise<unknown> }[] = [];
  const read = (shardId: number) => {
    const settled = shardReads(shardId, () => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const answer = () => pass(resolve(shardId) ?? 0);
      const fail = () => pass(reject(new Error('no answer')) ?? 0);
      begun.push({ shardId, answer, fail });
      return promise;
    });
    settled.catch(() => {});
    return settled;
  };
  return { read, begun, shards: () => begun.map(({ shardId }) => shardId) };
}

/** A shard whose only read takes too long. */
async function slowShard(limit: number) {
  const held = heldReads(limit);
  const first = held.read(1);
  await pass(200);
  return { ...held, first };
}

test('at most `limit` reads run at once, of one shard or of several', async () => {
  const { read, begun, shards } = heldReads(2);
  const reads = [1, 1, 2].map(read);
  await pass(0);
  expect(shards()).toEqual([1, 1]);
  await begun[0]!.answer();
  expect(shards()).toEqual([1, 1, 2]);
  for (const { answer } of begun) await answer();
  expect(await Promise.all(reads)).toEqual([1, 1, 2]);
});

test('if a shard does not answer, its further reads fail with the first, and other shards are read', async () => {
  const { read, begun, first, shards } = await slowShard(1);
  const second = read(1);
  void [2, 3].map(read);
  await pass(0);
  expect(shards()).toEqual([1, 2]);
  await begun[0]!.fail();
  for (const settled of [first, second]) await expect(settled).rejects.toThrow('no answer');
  await begun[1]!.answer();
  expect(shards()).toEqual([1, 2, 3]);
});

test('reads behind a shard that does not answer start soon, and its own reads wait without a permit', async () => {
  const { read, begun, shards } = heldReads(1);
  const reads = [1, 1, 1, 2].map(read);
  await pass(200);
  expect(shards()).toEqual([1, 2]);
  await begun[0]!.fail();
  for (const index of [0, 1, 2]) await expect(reads[index]).rejects.toThrow('no answer');
  expect(shards()).toEqual([1, 2]);
});

test('after a failure, one read at a time tries the shard, and other shards are read', async () => {
  const { read, begun, shards } = await slowShard(1);
  await begun[0]!.fail();
  const second = [read(1), read(1)];
  void read(2);
  await pass(0);
  expect(shards()).toEqual([1, 1, 2]);
  await begun[1]!.fail();
  for (const settled of second) await expect(settled).rejects.toThrow('no answer');
});

test('after a read succeeds, all waiting reads of the shard run', async () => {
  const { read, begun, shards } = await slowShard(2);
  await begun[0]!.fail();
  const reads = [1, 1, 1].map(read);
  await pass(0);
  expect(shards()).toEqual([1, 1]);
  await begun[1]!.answer();
  expect(shards()).toEqual([1, 1, 1, 1]);
  for (const { answer } of begun.slice(2)) await answer();
  expect(await Promise.all(reads)).toEqual([1, 1, 1]);
});

test('if a slow shard answers, no read fails', async () => {
  const { read, begun, first } = await slowShard(2);
  const second = read(1);
  await begun[0]!.answer();
  await begun[1]!.answer();
  expect(await Promise.all([first, second])).toEqual([1, 1]);
});

test('a read that fails at once does not delay others', async () => {
  const { read, begun, shards } = heldReads(2);
  const failing = read(1);
  await pass(0);
  await begun[0]!.fail();
  await expect(failing).rejects.toThrow('no answer');
  void [1, 1].map(read);
  await pass(0);
  expect(shards()).toEqual([1, 1, 1]);
});

test('keys of one shard are read together, and no shard waits for another', async () => {
  const begun: number[][] = [];
  const read = (keys: { shardId: number; serial: number }[]) => {
    begun.push(keys.map(({ serial }) => serial));
    // The first shard does not answer.
    return keys[0]!.shardId === 1
      ? new Promise<number[]>(() => {})
      : Promise.resolve(keys.map((key) => key.serial));
  };
  const load = shardLoader(createShardReads(4), read);
  void [10, 11].map((serial) => load({ shardId: 1, serial }));
  const values = [20, 21, 22].map((serial) => load({ shardId: 2, serial }));
  expect(await Promise.all(values)).toEqual([20, 21, 22]);
  expect(begun).toEqual([[10], [20], [21, 22]]);
});
