import { ConnectionFailed } from '@floodgate/database';
import { createLogger } from '@floodgate/service';
import { expect, test } from 'vitest';
import { createGroups } from './change-registrations.ts';

test('after a round that does not commit, the later rounds of its group are not tried, and the earlier ones keep their outcome', async () => {
  const tried: string[] = [];
  const { commit } = createGroups<string, 'done'>(
    {
      log: createLogger('test', 'silent'),
      isCluster: false,
      groupLimit: 10,
      waitingLimit: 10,
      answerWithinMs: 200,
      onCommitted: () => {},
      roundsOf: (items) => items.map((one) => [one]),
    },
    (_shardId, [item]) => {
      tried.push(item!);
      return item === 'second' ? Promise.reject(new ConnectionFailed('no')) : Promise.resolve(['done']);
    },
  );
  expect(await commit(['first', 'second', 'third'], 0)).toEqual(['done', 'overloaded', 'overloaded']);
  expect(new Set(tried)).toEqual(new Set(['first', 'second']));
});
