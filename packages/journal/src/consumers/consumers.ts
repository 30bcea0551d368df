import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ConsumerKind, Database } from '@floodgate/database';

// Actions of the lease holder. Each update returns false if the lease was lost or the consumer was paused or
// disabled: then another process continues, or nobody does.
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
  /** Everything up to here was delivered. */
  cursor: number;
  /** Last offset of the range being delivered; null if there is none. A retry sends exactly this range. */
  inFlightUntil: number | null;
  /** The last entry for it that was known when it was leased; null if nobody had looked. */
  newsOffset: number | null;
  /** Consecutive failed attempts. */
  failures: number;
  /** Start of the current run of failed or throttled attempts; null if the last attempt succeeded. */
  failingSince: Date | null;
  /** Identifies this lease. */
  lease: string;
}

/** How long the consumers of a killed process stay leased. Longer than any single attempt. */
export const LEASE_SECONDS = 25;
const LEASE = sql`make_interval(secs => ${LEASE_SECONDS})`;

/** Leases up to `limit` consumers of a shard that are behind and due, the longest waiting first. */
export async function leaseConsumers(
  db: Database,
  shardId: number,
  kind: ConsumerKind,
  limit: number,
): Promise<Consumer[]> {
  const found = await sql<{ areDue: boolean }>`select find_news(${shardId}, ${kind}) as "areDue"`.execute(db);
  if (!found.rows[0]!.areDue) return [];
  const { rows } = await sql<Consumer & { nextAt: Date }>`
    update journal_consumers set lease = ${randomUUID()}, leased_until = now() + ${LEASE}
    where shard_id = ${shardId} and id = any(array(
      select id from journal_consumers
      where shard_id = ${shardId} and kind = ${kind} and is_behind and state = 'active' and next_at <= now()
        and (leased_until is null or leased_until <= now())
      order by next_at limit ${limit} for update skip locked
    ))
    returning shard_id as "shardId", id, event_id as "eventId", partner_id as "partnerId", last_offset as cursor,
      in_flight_until as "inFlightUntil", news_offset as "newsOffset", failures, failing_since as "failingSince", lease,
      next_at as "nextAt"`.execute(db);
  return rows.toSorted((one, other) => +one.nextAt - +other.nextAt);
}

async function updateLeased(
  db: Database,
  { shardId, id, lease }: Consumer,
  change: ReturnType<typeof sql>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update journal_consumers set ${change}
    where shard_id = ${shardId} and id = ${id} and lease = ${lease} and state = 'active'`.execute(db);
  return Number(numAffectedRows ?? 0) > 0;
}

/** Records that everything up to the cursor was delivered, and the next range in flight. Extends the lease. */
export async function advance(
  db: Database,
  consumer: Consumer,
  { cursor, inFlightUntil = null }: { cursor: number; inFlightUntil?: number | null },
): Promise<boolean> {
  const isKept = await updateLeased(
    db,
    consumer,
    sql`last_offset = ${cursor}, in_flight_until = ${inFlightUntil}, failures = 0, failing_since = null,
      leased_until = now() + ${LEASE}`,
  );
  if (isKept) Object.assign(consumer, { cursor, inFlightUntil, failures: 0, failingSince: null });
  return isKept;
}

const releaseFor = (delayMs: number) =>
  sql`lease = null, leased_until = null, next_at = now() + make_interval(secs => ${delayMs / 1000})`;

/** Releases a consumer. It is leased again after the delay, behind those that have waited longer. */
export const release = (db: Database, consumer: Consumer, delayMs = 0): Promise<boolean> =>
  updateLeased(db, consumer, releaseFor(delayMs));

/**
 * Releases a consumer that has read the journal to its end. It is idle, unless a scan has found news since it was leased. (Its cursor
 * can stay below the news: if entries expired, and at 0 as long as there was nothing to read.)
 */
export const releaseCaughtUp = (db: Database, consumer: Consumer): Promise<boolean> =>
  updateLeased(
    db,
    consumer,
    sql`${releaseFor(0)}, news_offset = case
      when news_offset is not distinct from ${consumer.newsOffset}::bigint then least(news_offset, last_offset)
      else news_offset end`,
  );

// Citus accepts no now() inside a coalesce.
const failingSinceNow = ({ failingSince }: Consumer) =>
  failingSince === null ? sql`, failing_since = now()` : sql``;

/** Releases a consumer after a failed attempt. The same range is sent again after the delay. */
export const retryLater = (db: Database, consumer: Consumer, delayMs: number): Promise<boolean> =>
  updateLeased(
    db,
    consumer,
    sql`${releaseFor(delayMs)}, failures = failures + 1 ${failingSinceNow(consumer)}`,
  );

/** Releases a consumer whose receiver asked to wait. This is no failure, but no success either. */
export const throttle = (db: Database, consumer: Consumer, delayMs: number): Promise<boolean> =>
  updateLeased(db, consumer, sql`${releaseFor(delayMs)} ${failingSinceNow(consumer)}`);

/** Disables a consumer until it is resumed. */
export const disable = (db: Database, consumer: Consumer): Promise<boolean> =>
  updateLeased(db, consumer, sql`lease = null, leased_until = null, state = 'disabled'`);

/**
 * Moves the cursors of idle consumers forward. Otherwise such a cursor would expire with the entries of other events. Cursors at 0 do
 * not expire, and stay.
 */
export async function advanceIdleConsumers(db: Database, shardId: number, kind: ConsumerKind): Promise<void> {
  // An idle consumer has nothing to read up to the end of the last scan. A scan that runs now finds later entries.
  await sql`
    update journal_consumers set last_offset = scans.last_offset from consumer_scans scans
    where scans.shard_id = ${shardId} and journal_consumers.shard_id = ${shardId}
      and kind = ${kind} and not is_behind and in_flight_until is null
      and journal_consumers.last_offset > 0 and journal_consumers.last_offset < scans.last_offset`.execute(
    db,
  );
}
