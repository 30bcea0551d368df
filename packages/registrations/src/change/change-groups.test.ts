import { ConnectionFailed } from '@floodgate/database';
import { createLogger } from '@floodgate/service';
import { expect, test } from 'vitest';
import { ManualClock, settle } from '../../../../test/harness/manual-clock.ts';
import { createGroups } from './change-groups.ts';

/** Groups whose items are rounds of their own, and the items that were tried, by their time. */
function start(change: (item: string, clock: ManualClock) => Promise<'done'>) {
  const clock = new ManualClock();
  const startedAt = clock.now();
  const tried: [item: string, ms: number][] = [];
  const options = {
    log: createLogger('test', 'silent'),
    isCluster: false,
    groupLimit: 10,
    waitingLimit: 10,
    answerWithinMs: 200,
    onCommitted: () => {},
    roundsOf: (items: readonly string[]) => items.map((one) => [one]),
    clock,
  };
  const { commit } = createGroups<string, 'done'>(options, async (_shardId, [item]) => {
    tried.push([item!, clock.now() - startedAt]);
    return [await change(item!, clock)];
  });
  return { clock, tried, commit };
}

test('a round that does not commit is retried for half of the time; the later rounds are not tried, the earlier ones keep their outcome', async () => {
  const { clock, tried, commit } = start((item) =>
    item === 'second' ? Promise.reject(new ConnectionFailed('no')) : Promise.resolve('done'),
  );
  const outcomes = commit(['first', 'second', 'third'], 0);
  await clock.runAll();
  expect(await outcomes).toEqual(['done', 'overloaded', 'overloaded']);
  expect(tried).toEqual([
    ['first', 0],
    ['second', 0],
    ['second', 50],
    ['second', 100],
  ]);
});

test('a round that commits after a failure lets the later rounds follow', async () => {
  let failures = 0;
  const { clock, tried, commit } = start((item) =>
    item === 'second' && failures++ === 0
      ? Promise.reject(new ConnectionFailed('no'))
      : Promise.resolve('done'),
  );
  const outcomes = commit(['first', 'second', 'third'], 0);
  await clock.runAll();
  expect(await outcomes).toEqual(['done', 'done', 'done']);
  expect(tried.map(([item]) => item)).toEqual(['first', 'second', 'second', 'third']);
});

test('no round starts in the second half of the time', async () => {
  const { tried, commit } = start((_item, clock) => {
    clock.block(60);
    return Promise.resolve('done');
  });
  const outcomes = commit(['first', 'second', 'third'], 0);
  await settle();
  expect(await outcomes).toEqual(['done', 'done', 'overloaded']);
  expect(tried.map(([item]) => item)).toEqual(['first', 'second']);
});
