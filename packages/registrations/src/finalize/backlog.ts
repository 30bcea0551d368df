import { sql } from 'kysely';
import { addUp, askShards, plainArray, shardIds, type BatchState, type Database } from '@floodgate/database';
import type { QueueBacklog } from '@floodgate/queue';

// Pending batches and changes, and failed batches. Operators inspect them and redrive the failed ones.

// The condition of the partial index.
const isPending = (shard: number) =>
  sql`shard_id = ${shard} and journal_offset is null and state = 'pending'`;

/**
 * Returns the figures of the outbox, added up over the shards that answer, and the shards that do not. The
 * age of a redriven batch counts from its redrive.
 */
export async function readBacklog(db: Database) {
  const { answers, away } = await askShards(await shardIds(db), async (shard) => {
    const { rows } = await sql<QueueBacklog>`
      select
        (select count(*)::integer from batches where ${isPending(shard)}) as "pendingBatches",
        (select count(*)::integer from changes where shard_id = ${shard}) as "pendingChanges",
        (select count(*)::integer from batches where shard_id = ${shard} and state = 'failed') as "failedBatches",
        (extract(epoch from clock_timestamp() - least(
          (select min(pending_since) from batches where ${isPending(shard)}),
          (select min(at) from changes where shard_id = ${shard})
        )) * 1000)::float8 as "oldestPendingMs"`.execute(db);
    return rows[0]!;
  });
  return { ...answers.reduce(addUp), ...(away.length > 0 && { shardsAway: away }) };
}

/**
 * Selects failed batches: all of them, or those with these ids, with registrations for an event, or with a
 * reason.
 */
interface FailedSelection {
  batchIds?: readonly string[] | undefined;
  eventId?: number | undefined;
  /** Those with registrations for one of these events. The ids of other events are left out. */
  events?: readonly number[] | undefined;
  reason?: string | undefined;
  limit: number;
}

/** A failed batch. Its registrations keep their seats. */
export interface FailedBatch {
  batchId: string;
  eventIds: number[];
  registrations: number;
  failedAt: Date;
  /** The time since then. */
  ageMs: number;
  /** An SQLSTATE or the name of an error. */
  reason: string | null;
}

const registrationsOf = (shard: number) => sql`
  from registrations
  where registrations.shard_id = ${shard} and registrations.batch_id = batches.id
    and registrations.serial between first_serial and last_serial`;

function isWanted(shard: number, { batchIds, eventId, events, reason }: Omit<FailedSelection, 'limit'>) {
  const ofIds = batchIds ? sql`and id = any(${plainArray(batchIds)}::uuid[])` : sql``;
  const isOfOne = (ids: readonly number[]) => sql`
    and (event_id = any(${plainArray(ids)}::integer[]) or event_id is null
      and exists (
        select ${registrationsOf(shard)} and registrations.event_id = any(${plainArray(ids)}::integer[])
      ))`;
  const ofEvent = eventId === undefined ? sql`` : isOfOne([eventId]);
  const ofEvents = events === undefined ? sql`` : isOfOne(events);
  const ofReason = reason === undefined ? sql`` : sql`and failure = ${reason}`;
  return sql`batches.shard_id = ${shard} and state = 'failed' ${ofIds} ${ofReason} ${ofEvent} ${ofEvents}`;
}

/** Returns failed batches, the oldest first, and the shards that do not answer. */
export async function listFailedBatches(db: Database, { limit, ...selection }: FailedSelection) {
  const { answers, away } = await askShards(await shardIds(db), async (shard) => {
    const { rows } = await sql<FailedBatch>`
      select id as "batchId", size as registrations, finished_at as "failedAt", failure as reason,
        (extract(epoch from clock_timestamp() - finished_at) * 1000)::float8 as "ageMs",
        to_json(case when event_id is not null then array[event_id] else array(
          select distinct registrations.event_id ${registrationsOf(shard)} order by 1
        ) end) as "eventIds"
      from batches where ${isWanted(shard, selection)}
      order by finished_at limit ${limit}`.execute(db);
    return rows;
  });
  const failed = answers.flat().sort((one, other) => other.ageMs - one.ageMs);
  const { events } = selection;
  const shown = failed.slice(0, limit).map(({ eventIds, ...batch }) => ({
    ...batch,
    eventIds: events ? eventIds.filter((id) => events.includes(id)) : eventIds,
  }));
  return { failed: shown, away };
}

/** Returns the events of those of these batches that have failed. Empty: none has. */
export async function findEventsOfFailed(db: Database, batchIds: readonly string[]) {
  const { failed } = await listFailedBatches(db, { batchIds, limit: Number.MAX_SAFE_INTEGER });
  return [...new Set(failed.flatMap(({ eventIds }) => eventIds))];
}

/** Makes failed batches of a shard pending again and due for the relay at once, the oldest first. Returns their ids. */
export async function redriveBatches(
  transaction: Database,
  { shardId, limit, ...selection }: FailedSelection & { shardId: number },
) {
  const { rows } = await sql<{ id: string }>`
    update batches
    set state = 'pending', pending_since = now(), finished_at = null, failure = null, relay_at = now(),
      journal_offset = null
    where shard_id = ${shardId} and id = any(array(
      select id from batches where ${isWanted(shardId, selection)}
      order by created_at limit ${limit} for update skip locked
    ))
    returning id`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** Returns how many of these batches are in each state now, in the shards that answer. */
export async function countStates(db: Database, batchIds: readonly string[]) {
  const { answers } = await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await sql<Record<BatchState, number>>`
      select
        count(*) filter (where state = 'pending')::integer as pending,
        count(*) filter (where state = 'confirmed')::integer as confirmed,
        count(*) filter (where state = 'failed')::integer as failed
      from batches where shard_id = ${shardId} and id = any(${plainArray(batchIds)}::uuid[])`.execute(db);
    return rows[0]!;
  });
  return answers.reduce(addUp);
}
