import { randomUUID } from 'node:crypto';
import { sql, type UpdateObject } from 'kysely';
import { inCamelCase, type ConsumerKind, type Database, type Schema } from '@floodgate/database';

// Part one: actions of the lease holder. Each update returns false if the lease was lost, or if the consumer was paused or
// disabled. Then the caller must stop.
//
//                              advance
//                               ┌────┐
//   idle ──news──▶ behind ──▶ leased ─┴▶ release ─▶ behind, or idle if it is caught up
//                               ├───────▶ retryLater, throttle ─▶ behind, due later
//                               └───────▶ disable ─▶ disabled until it is resumed

/** A reader of the journal while this process holds its lease. */
export interface Consumer {
  shardId: number;
  id: string;
  eventId: number;
  /** 0: it reads the entries of all partners. */
  partnerId: number;
  /** Offset up to which everything was delivered. */
  cursor: number;
  /** Last offset of the range being delivered; null if there is none. A retry sends exactly this range. */
  inFlightUntil: number | null;
  /** Offset of its newest entry that was known when it was leased; null if no scan had found one. */
  newsOffset: number | null;
  /** Consecutive failed attempts. */
  failures: number;
  /** Start of the current run of failed or throttled attempts; null if the last attempt succeeded. */
  failingSince: Date | null;
  /** Identifies this lease. */
  lease: string;
}

/** Identifies a consumer. */
export type ConsumerId = Pick<Consumer, 'shardId' | 'id'>;

/** How long the consumers of a killed process stay leased. Longer than any single attempt. */
export const LEASE_SECONDS = 25;
const NOW = sql<Date>`now()`;
const inSeconds = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`;

/** Leases up to `limit` consumers of a shard that are behind and due, the longest waiting first. */
export async function leaseConsumers(
  db: Database,
  shardId: number,
  kind: ConsumerKind,
  limit: number,
  leaseSeconds = LEASE_SECONDS,
) {
  const found = await sql<{ areDue: boolean }>`select find_news(${shardId}, ${kind}) as "areDue"`.execute(db);
  if (!found.rows[0]!.areDue) return [];
  const { rows } = await sql<Consumer & { nextAt: Date }>`
    update journal_consumers set lease = ${randomUUID()}, leased_until = ${inSeconds(leaseSeconds)}
    where shard_id = ${shardId} and id = any(array(
      select id from journal_consumers
      where shard_id = ${shardId} and kind = ${kind} and is_behind and state = 'active' and next_at <= now()
        and (leased_until is null or leased_until <= now())
      order by next_at limit ${limit} for update skip locked
    ))
    returning shard_id, id, event_id, partner_id, last_offset as cursor, in_flight_until, news_offset,
      failures, failing_since, lease, next_at`.execute(inCamelCase(db));
  return rows.toSorted((one, other) => +one.nextAt - +other.nextAt);
}

type Change = UpdateObject<Schema, 'journal_consumers'>;

const updateConsumer = (db: Database, { shardId, id }: ConsumerId, change: Change) =>
  db.updateTable('journal_consumers').set(change).where('shard_id', '=', shardId).where('id', '=', id);

async function updateLeased(db: Database, consumer: Consumer, change: Change) {
  const { lease } = consumer;
  const update = updateConsumer(db, consumer, change).where(({ and }) => and({ lease, state: 'active' }));
  return (await update.executeTakeFirstOrThrow()).numUpdatedRows > 0n;
}

/** Records that everything up to the cursor was delivered, and the next range in flight. Extends the lease. */
export const advance = (db: Database, consumer: Consumer, cursor: number, inFlightUntil?: number | null) =>
  updateLeased(db, consumer, {
    last_offset: cursor,
    in_flight_until: inFlightUntil ?? null,
    failures: 0,
    failing_since: null,
    leased_until: inSeconds(LEASE_SECONDS),
  });

const UNLEASED = { lease: null, leased_until: null };

/** Releases a consumer. It can be leased again after the delay, behind consumers that have waited longer. */
export const release = (db: Database, consumer: Consumer, delayMs = 0, change: Change = {}) =>
  updateLeased(db, consumer, { ...UNLEASED, next_at: inSeconds(delayMs / 1_000), ...change });

/**
 * Releases a consumer that has read the journal to its end. It becomes idle, unless a scan has found news since it was leased. (Its cursor
 * can stay below the news: if entries expired, and at 0 while there was nothing to read.)
 */
export const releaseCaughtUp = (db: Database, consumer: Consumer) =>
  release(db, consumer, 0, {
    news_offset: sql<number>`case
      when news_offset is not distinct from ${consumer.newsOffset}::bigint then least(news_offset, last_offset)
      else news_offset end`,
  });

/** Releases a consumer whose receiver asked to wait. This counts neither as a failure nor as a success. */
export const throttle = (db: Database, consumer: Consumer, delayMs: number, change: Change = {}) =>
  // Citus accepts no now() inside a coalesce.
  release(db, consumer, delayMs, consumer.failingSince ? change : { ...change, failing_since: NOW });

/** Releases a consumer after a failed attempt. The same range is sent again after the delay. */
export const retryLater = (db: Database, consumer: Consumer, delayMs: number) =>
  throttle(db, consumer, delayMs, { failures: sql<number>`failures + 1` });

/** Disables a consumer until it is resumed. */
export const disable = (db: Database, consumer: Consumer) =>
  updateLeased(db, consumer, { ...UNLEASED, state: 'disabled' });

/**
 * Advances the cursors of idle consumers. Otherwise such a cursor would expire with the entries of other events. Cursors at 0 do not expire
 * and do not advance.
 */
export async function advanceIdleConsumers(db: Database, shardId: number, kind: ConsumerKind) {
  // An idle consumer has nothing to read before the end of the last scan. A scan that runs now finds later entries.
  await sql`
    update journal_consumers set last_offset = scans.last_offset from consumer_scans scans
    where scans.shard_id = ${shardId} and journal_consumers.shard_id = ${shardId}
      and kind = ${kind} and not is_behind and in_flight_until is null
      and journal_consumers.last_offset > 0
      and journal_consumers.last_offset < scans.last_offset`.execute(db);
}

// Part two: changes by capabilities, while another process may hold the lease. `db` is a transaction if the caller changes more with it.

export interface NewConsumer extends Pick<Consumer, 'shardId' | 'eventId' | 'partnerId'> {
  kind: ConsumerKind;
  /** Whether it starts with the next entry instead of the oldest entry that is kept. */
  fromNow?: boolean;
  /** Whether it is paused until it is resumed. */
  isPaused?: boolean;
}

/** Adds a consumer. Returns its id and its first cursor. */
export async function addConsumer(
  db: Database,
  { shardId, kind, eventId, partnerId, fromNow = false, isPaused = false }: NewConsumer,
) {
  const id = randomUUID();
  const cursor = fromNow ? await journalHead(db, shardId) : 0;
  const state = isPaused ? 'paused' : 'active';
  const consumer = { shardId, id, kind, eventId, partnerId, lastOffset: cursor, state } as const;
  await inCamelCase(db).insertInto('journalConsumers').values(consumer).execute();
  return { id, cursor };
}

/** Returns the cursor after the last entry of a shard. */
export async function journalHead(db: Database, shardId: number) {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', shardId);
  return (await heads.executeTakeFirstOrThrow()).last_offset;
}

/** Locks a consumer until the transaction ends. Returns false if it was deleted. */
export async function lockConsumer(db: Database, { shardId, id }: ConsumerId) {
  const { rows } = await sql`
    select from journal_consumers where shard_id = ${shardId} and id = ${id} for update`.execute(db);
  return rows.length > 0;
}

/** Changes a consumer. A process that holds its lease loses the lease. */
const change = async (db: Database, consumer: ConsumerId, changes: Change) =>
  void (await updateConsumer(db, consumer, { ...UNLEASED, ...changes }).execute());

/** Stops a consumer until it is resumed. */
export const pauseConsumer = (db: Database, consumer: ConsumerId) =>
  change(db, consumer, { state: 'paused' });

/**
 * Makes the next attempt of a consumer due at once. `changes` can also set another cursor. If they set the range in flight to null, it is
 * not repeated.
 */
export const retryConsumer = (db: Database, consumer: ConsumerId, changes: Change = {}) =>
  change(db, consumer, { failures: 0, failing_since: null, next_at: NOW, ...changes });

/** Resumes a paused or disabled consumer where it stopped. Its next attempt is due at once. */
export const resumeConsumer = (db: Database, consumer: ConsumerId) =>
  retryConsumer(db, consumer, { state: 'active' });

/** Deletes a consumer. A process that holds its lease loses the lease. */
export async function deleteConsumer(db: Database, { shardId, id }: ConsumerId) {
  await db.deleteFrom('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id).execute();
}
