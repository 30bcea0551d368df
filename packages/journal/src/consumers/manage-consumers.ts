import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ConsumerKind, Database } from '@floodgate/database';

// Changes of consumers by capabilities, while another process may hold the lease. `db` is a transaction if more is changed with it.

/** Identifies a consumer. */
export interface ConsumerId {
  shardId: number;
  id: string;
}

export interface NewConsumer {
  shardId: number;
  kind: ConsumerKind;
  eventId: number;
  /** 0: the entries of all partners. */
  partnerId: number;
  /** Whether it starts with the next entry, instead of the oldest that is kept. */
  fromNow?: boolean;
  /** Whether it is paused until it is resumed. */
  isPaused?: boolean;
}

/** Adds a consumer. Returns its id and its first cursor. */
export async function addConsumer(
  db: Database,
  { shardId, kind, eventId, partnerId, fromNow = false, isPaused = false }: NewConsumer,
): Promise<{ id: string; cursor: number }> {
  const id = randomUUID();
  const cursor = fromNow ? await journalHead(db, shardId) : 0;
  await db
    .insertInto('journal_consumers')
    .values({
      shard_id: shardId,
      id,
      kind,
      event_id: eventId,
      partner_id: partnerId,
      last_offset: cursor,
      state: isPaused ? 'paused' : 'active',
    })
    .execute();
  return { id, cursor };
}

/** Returns the cursor after the last entry of a shard. */
export async function journalHead(db: Database, shardId: number): Promise<number> {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', shardId);
  return (await heads.executeTakeFirstOrThrow()).last_offset;
}

/** Locks a consumer until the transaction ends. Returns false if it was deleted. */
export async function lockConsumer(transaction: Database, { shardId, id }: ConsumerId): Promise<boolean> {
  const { rows } = await sql`
    select from journal_consumers where shard_id = ${shardId} and id = ${id} for update`.execute(transaction);
  return rows.length > 0;
}

/** Changes a consumer. A process that holds its lease loses it. */
async function change(db: Database, { shardId, id }: ConsumerId, changes: ReturnType<typeof sql>) {
  await sql`
    update journal_consumers set lease = null, leased_until = null, ${changes}
    where shard_id = ${shardId} and id = ${id}`.execute(db);
}

const DUE = sql`failures = 0, failing_since = null, next_at = now()`;

/** Stops a consumer until it is resumed. */
export const pauseConsumer = (db: Database, consumer: ConsumerId) =>
  change(db, consumer, sql`state = 'paused'`);

/** Continues a paused or disabled consumer where it stopped. Its next attempt is due at once. */
export const resumeConsumer = (db: Database, consumer: ConsumerId) =>
  change(db, consumer, sql`state = 'active', ${DUE}`);

/**
 * Makes the next attempt of an active consumer due at once, from another cursor if one is given. With `inFlightUntil: null` the range
 * in flight is not repeated.
 */
export const retryConsumer = (
  db: Database,
  consumer: ConsumerId,
  { cursor, inFlightUntil }: { cursor?: number; inFlightUntil?: null } = {},
) => {
  const from = cursor === undefined ? sql`` : sql`, last_offset = ${cursor}`;
  const range = inFlightUntil === null ? sql`, in_flight_until = null` : sql``;
  return change(db, consumer, sql`${DUE}${from}${range}`);
};

/** Deletes a consumer. A process that holds its lease loses it. */
export async function deleteConsumer(db: Database, { shardId, id }: ConsumerId): Promise<void> {
  await db.deleteFrom('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id).execute();
}
