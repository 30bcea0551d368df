import { randomUUID } from 'node:crypto';
import { plainArray, textArray, type Database, type DeliveryState } from '@floodgate/database';
import { sql } from 'kysely';
import type { Outcome } from './outcome.ts';

/*
 * A delivery is one message for one recipient. Its row in `deliveries` goes through these states:
 *
 *            lease, committed            recorded after the attempt
 *   queued ──────────────────▶ sending ──┬──▶ sent
 *     ▲                        ▲   ▲ │   ├──▶ undeliverable   refused for good, or too often
 *     │  no attempt was made   │   │ │   ├──▶ suppressed      this recipient gets no messages
 *     └────────────────────────┼───┼─┤   └──▶ cancelled       no longer to be sent, found when it was loaded
 *                              │   │ └──▶ retry ──┐
 *                              │   └──────────────┘ lease, when it is due
 *                              └ lease expired: the process died. The row is leased again and marked `possibly_twice`.
 */

/** A delivery that this process has leased. */
export interface Delivery {
  shardId: number;
  kind: string;
  eventId: number;
  /** The subject of the message: a registration's serial, or a webhook's id. */
  subject: string;
  /** Which edition of the message: it rises when the same subject needs a newer message. */
  revision: number;
  /** Attempts that counted. */
  attempts: number;
  /** An earlier attempt may have succeeded without its outcome being recorded. */
  possiblyTwice: boolean;
  createdAt: Date;
  /** Milliseconds from the last attempt to the lease; null: there was no attempt. */
  triedMsAgo: number | null;
  lease: string;
}

/** How long a crashed process keeps its rows from other processes. */
export const LEASE_SECONDS = 30;

/** Which deliveries to lease. */
export interface LeaseFilter {
  kinds: readonly string[];
  /** Only of events that have an active journal consumer of this kind: the operator's switch. Null: of all events. */
  consumerKind: string | null;
}

/** Leases up to `most` due deliveries of a shard. They are committed as `sending` when this resolves. */
export async function leaseDeliveries(
  db: Database,
  shardId: number,
  { kinds, consumerKind }: LeaseFilter,
  most: number,
): Promise<Delivery[]> {
  const lease = randomUUID();
  const { rows } = await sql<{ leased: (Omit<Delivery, 'createdAt'> & { createdAt: string })[] }>`
    select lease_deliveries(
      ${shardId}, ${textArray(kinds)}::text[], ${consumerKind}, ${most}, ${lease}, make_interval(secs => ${LEASE_SECONDS})
    ) as leased`.execute(db);
  return rows[0]!.leased.map((row) => ({ ...row, shardId, lease, createdAt: new Date(row.createdAt) }));
}

const keysOf = (deliveries: readonly Delivery[]) => sql`
  ${textArray(deliveries.map(({ kind }) => kind))}::text[],
  ${plainArray(deliveries.map(({ eventId }) => eventId))}::integer[],
  ${textArray(deliveries.map(({ subject }) => subject))}::text[],
  ${plainArray(deliveries.map(({ lease }) => lease))}::uuid[]`;

/** Extends leases of one shard by another LEASE_SECONDS. Returns those that this process still has. */
export async function renewLeases<Leased extends Delivery>(
  db: Database,
  shardId: number,
  deliveries: readonly Leased[],
): Promise<Leased[]> {
  const { rows } = await sql<{ name: string }>`
    update deliveries set due_at = now() + make_interval(secs => ${LEASE_SECONDS})
    from unnest(${keysOf(deliveries)}) as leased (kind, event_id, subject, lease)
    where deliveries.shard_id = ${shardId} and deliveries.event_id = leased.event_id and deliveries.kind = leased.kind
      and deliveries.subject = leased.subject and deliveries.lease = leased.lease and state = 'sending'
    returning deliveries.lease || ' ' || deliveries.subject as name`.execute(db);
  const kept = new Set(rows.map(({ name }) => name));
  return deliveries.filter(({ lease, subject }) => kept.has(`${lease} ${subject}`));
}

/** Records outcomes of deliveries of one shard. An outcome is ignored where another process has the row by now. */
export async function recordOutcomes(
  db: Database,
  shardId: number,
  attempted: readonly { delivery: Delivery; outcome: Outcome; message: { revision: number } | null }[],
): Promise<void> {
  const states = attempted.map(({ outcome }): DeliveryState => outcome.state);
  // No boolean[]: array literals are written for numbers and text.
  const twice = attempted.map(({ delivery, outcome }) =>
    (outcome.possiblyTwice ?? delivery.possiblyTwice) ? 't' : 'f',
  );
  await sql`
    select record_deliveries(
      ${shardId}, ${keysOf(attempted.map(({ delivery }) => delivery))}, ${plainArray(states)}::text[],
      ${textArray(attempted.map(({ outcome }) => outcome.reason))}::text[],
      ${plainArray(attempted.map(({ delivery, outcome }) => outcome.attempts ?? delivery.attempts))}::integer[],
      ${plainArray(attempted.map(({ message }) => message?.revision ?? null))}::integer[],
      ${plainArray(twice)}::boolean[],
      ${plainArray(attempted.map(({ outcome }) => outcome.dueInMs ?? 0))}::double precision[]
    )`.execute(db);
}

/** Rows that one statement deletes. */
const PRUNED_AT_ONCE = 5_000;

/**
 * Deletes finished deliveries of a shard that are older than `days` and whose journal entry is gone as well: while it is kept, the row
 * is what prevents a second message. Returns whether there may be more.
 */
export async function pruneDeliveries(db: Database, shardId: number, days: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from deliveries
    where shard_id = ${shardId} and ctid = any(array(
      select ctid from deliveries
      where shard_id = ${shardId} and state not in ('queued', 'retry', 'sending')
        and created_at < least(
          now() - make_interval(days => ${days}::integer),
          (select at from journal_segments where shard_id = ${shardId} order by last_offset limit 1)
        )
      limit ${PRUNED_AT_ONCE}
    ))`.execute(db);
  return Number(numAffectedRows) >= PRUNED_AT_ONCE;
}
