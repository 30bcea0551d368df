import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import type { Consumer } from '@floodgate/journal';
import { sql } from 'kysely';

/** Has the partner of an endpoint told that it was given up, in place of what it was to be told of this endpoint before. */
export async function addNotice(
  transaction: Database,
  { shardId, id, failingSince }: Pick<Consumer, 'shardId' | 'id' | 'failingSince'>,
): Promise<void> {
  const now = sql<Date>`now()`;
  const notice = {
    message_id: randomUUID(),
    failing_since: failingSince,
    given_up_at: now,
    state: 'waiting',
    reason: null,
    attempts: 0,
    next_at: now,
  } as const;
  await transaction
    .insertInto('webhook_notices')
    .values({ shard_id: shardId, id, ...notice })
    .onConflict((conflict) => conflict.columns(['shard_id', 'id']).doUpdateSet(notice))
    .execute();
}

/** What became of telling a partner that an endpoint was given up; undefined: it never was. */
export const findNotice = (db: Database, { shardId, id }: Pick<Consumer, 'shardId' | 'id'>) =>
  db
    .selectFrom('webhook_notices')
    .select(['state', 'reason', 'given_up_at as givenUpAt', 'sent_at as sentAt'])
    .where('shard_id', '=', shardId)
    .where('id', '=', id)
    .executeTakeFirst();
