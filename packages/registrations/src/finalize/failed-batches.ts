import { sql, type RawBuilder } from 'kysely';
import { askShards, plainArray, shardIds, type BatchState, type Database } from '@floodgate/database';

// What finalization gave up: operators look at it, and give it another go.

/** Which failed batches: all of them, those with these ids, or those with registrations for an event; of one shard or of all. */
export interface FailedSelection {
  batchIds?: readonly string[] | undefined;
  eventId?: number | undefined;
  shardId?: number | undefined;
  limit: number;
}

/** A batch that finalization gave up. Its registrations keep their seats. */
export interface FailedBatch {
  batchId: string;
  eventIds: number[];
  registrations: number;
  failedAt: Date;
  /** How long ago that was. */
  ageMs: number;
  /** An SQLSTATE or the name of an error. */
  reason: string | null;
}

const isWanted = (
  shardId: number,
  { batchIds, eventId }: Omit<FailedSelection, 'limit'>,
): RawBuilder<unknown> => {
  const ofIds = batchIds ? sql`and id = any(${plainArray(batchIds)}::uuid[])` : sql``;
  const ofEvent =
    eventId === undefined
      ? sql``
      : sql`and (event_id = ${eventId} or event_id is null and exists (
          select from registrations
          where registrations.shard_id = ${shardId} and registrations.batch_id = batches.id
            and registrations.serial between first_serial and last_serial and registrations.event_id = ${eventId}
        ))`;
  return sql`batches.shard_id = ${shardId} and state = 'failed' ${ofIds} ${ofEvent}`;
};

/** Returns failed batches, the oldest first, and the shards that do not answer. */
export async function listFailedBatches(
  db: Database,
  { limit, ...selection }: FailedSelection,
): Promise<{ failed: FailedBatch[]; away: number[] }> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await sql<FailedBatch>`
      select id as "batchId", size as registrations, finished_at as "failedAt", failure as reason,
        (extract(epoch from clock_timestamp() - finished_at) * 1000)::float8 as "ageMs",
        to_json(case when event_id is not null then array[event_id] else array(
          select distinct registrations.event_id from registrations
          where registrations.shard_id = ${shardId} and registrations.batch_id = batches.id
            and registrations.serial between first_serial and last_serial
          order by 1
        ) end) as "eventIds"
      from batches where ${isWanted(shardId, selection)}
      order by finished_at limit ${limit}`.execute(db);
    return rows;
  });
  const failed = answers.flat().sort((one, other) => other.ageMs - one.ageMs);
  return { failed: failed.slice(0, limit), away };
}

/** Makes failed batches pending again and due for the relay at once, the oldest first. Returns their ids. */
export async function redriveBatches(
  transaction: Database,
  { shardId: only, limit, ...selection }: FailedSelection,
): Promise<string[]> {
  const redriven: string[] = [];
  for (const shardId of only === undefined ? await shardIds(transaction) : [only]) {
    const { rows } = await sql<{ id: string }>`
      select id from batches where ${isWanted(shardId, selection)}
      order by created_at limit ${limit - redriven.length} for update skip locked`.execute(transaction);
    const ids = rows.map(({ id }) => id);
    await sql`
      update batches
      set state = 'pending', pending_since = now(), finished_at = null, failure = null, relay_at = now(),
        journal_offset = null
      where shard_id = ${shardId} and id = any(${ids}::uuid[])`.execute(transaction);
    for (const id of ids) redriven.push(id);
  }
  return redriven;
}

/** How many of these batches are in each state now, in the shards that answer. */
export async function countStates(
  db: Database,
  batchIds: readonly string[],
): Promise<Partial<Record<BatchState, number>>> {
  const counts: Partial<Record<BatchState, number>> = {};
  await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await sql<{ state: BatchState; count: number }>`
      select state, count(*)::integer as count from batches
      where shard_id = ${shardId} and id = any(${plainArray(batchIds)}::uuid[]) group by state`.execute(db);
    for (const { state, count } of rows) counts[state] = (counts[state] ?? 0) + count;
  });
  return counts;
}
