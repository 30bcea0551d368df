import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import type { Consumer } from '@floodgate/journal';
import { sql } from 'kysely';

/** Has the partner of an endpoint told that it was given up, in place of what it was to be told of this endpoint before. */
export async function addNotice(
  transaction: Database,
  { shardId, id, failingSince }: Pick<Consumer, 'shardId' | 'id' | 'failingSince'>,
): Promise<void> {
  // What is replaced is named: Citus takes no now() there. When the last e-mail was sent, stays.
  await sql`
    insert into webhook_notices
      (shard_id, id, message_id, failing_since, given_up_at, state, reason, attempts, next_at)
    values (${shardId}, ${id}, ${randomUUID()}, ${failingSince}, now(), 'waiting', null, 0, now())
    on conflict (shard_id, id) do update set
      message_id = excluded.message_id, failing_since = excluded.failing_since, given_up_at = excluded.given_up_at,
      state = excluded.state, reason = excluded.reason, attempts = excluded.attempts, next_at = excluded.next_at`.execute(
    transaction,
  );
}

/** What became of telling a partner that an endpoint was given up; undefined: it never was. */
export const findNotice = (db: Database, { shardId, id }: Pick<Consumer, 'shardId' | 'id'>) =>
  db
    .selectFrom('webhook_notices')
    .select(['state', 'reason', 'given_up_at as givenUpAt', 'sent_at as sentAt'])
    .where('shard_id', '=', shardId)
    .where('id', '=', id)
    .executeTakeFirst();
