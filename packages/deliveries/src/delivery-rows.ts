import { randomUUID } from 'node:crypto';
import { textArray, type Database } from '@floodgate/database';
import { systemClock } from '@floodgate/service';
import { sql } from 'kysely';
import type { Attempt, Outcome } from './outcomes.ts';

/*
 * A delivery is one message for one recipient. Its row in `deliveries` goes through these states:
 *
 *            lease, committed            recorded after the attempt
 *   queued ──────────────────▶ sending ──┬──▶ sent
 *     ▲                        ▲   ▲ │   ├──▶ undeliverable   refused permanently, or in every attempt
 *     │  no attempt was made   │   │ │   ├──▶ suppressed      the recipient must get no messages
 *     └────────────────────────┼───┼─┤   └──▶ cancelled       no longer wanted when it was loaded
 *                              │   │ └──▶ retry ──┐
 *                              │   └──────────────┘ lease, when it is due
 *                              └ lease expired: the process died.
 *                                The row is leased again and marked `possibly_twice`.
 */

/** The deliveries of one kind and event. */
export interface Queue {
  shardId: number;
  eventId: number;
  kind: string;
}

/** A delivery that this process has leased. */
export interface Delivery extends Queue {
  /**
   * The subject of the message: a serial of a registration or an entry of a waiting list, or a webhook's id.
   */
  subject: string;
  /** Edition of the message. It rises when the same subject needs a newer message. */
  revision: number;
  /** The edition that the recipient got before, of a message about a change; null: not known. */
  toldRevision: number | null;
  /** Attempts that counted, plus attempts in which the process died. */
  attempts: number;
  /** An earlier attempt may have succeeded without its outcome being recorded. */
  possiblyTwice: boolean;
  /** The process died in several attempts. This delivery may be the cause. */
  isSuspect: boolean;
  createdAt: Date;
  /** Milliseconds between the last attempt and the lease; null if there was no attempt. */
  triedMsAgo: number | null;
  lease: string;
  /** When this process asked for the lease, by the clock of the process. */
  leasedAt: number;
}

/** A delivery to queue. */
export interface NewDelivery extends Pick<Delivery, 'kind' | 'subject'> {
  /** When it became due. */
  since: Date;
  /** Why it must not be sent: then it is `cancelled` from the start. */
  unwanted?: string;
}

/**
 * Queues deliveries of an event in one statement. Those that exist stay as they are, so nothing is queued
 * twice.
 */
export async function queueDeliveries(
  db: Database,
  { shardId, eventId }: Omit<Queue, 'kind'>,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, created_at, state, reason)
    select ${shardId}::integer, ${eventId}::integer, kind, subject, since,
      case when unwanted is null then 'queued' else 'cancelled' end, unwanted
    from json_to_recordset(${JSON.stringify(deliveries)}::json)
      as queued (kind text, subject text, since timestamptz, unwanted text)
    on conflict (shard_id, event_id, kind, subject) do nothing`.execute(db);
}

export const deliveriesOf = (db: Database, { shardId, eventId, kind }: Queue) =>
  db.selectFrom('deliveries').where(({ and }) => and({ shard_id: shardId, event_id: eventId, kind }));

/** Returns whether at least `count` deliveries are due. Deliveries that wait for a retry do not count. */
export async function hasQueued(db: Database, queue: Queue, count: number): Promise<boolean> {
  const isDue = sql<boolean>`state in ('queued', 'retry', 'sending') and due_at <= now()`;
  const due = deliveriesOf(db, queue).where(isDue).select('kind').limit(1);
  return (await due.offset(count - 1).executeTakeFirst()) !== undefined;
}

/** A crashed process keeps its rows leased for this long. */
export const DELIVERY_LEASE_SECONDS = 30;

/** A kind to lease. */
export interface LeasedKind {
  name: string;
  /**
   * Lease only deliveries of events with an active journal consumer of this kind, which is the operator's
   * switch. Null: lease those of all events.
   */
  consumerKind: string | null;
}

/**
 * Leases up to `limit` due deliveries of a shard. They are committed as `sending` when this resolves. At most
 * one of them is a suspect, and none without `withSuspect`.
 */
export async function leaseDeliveries(
  db: Database,
  shardId: number,
  kinds: readonly LeasedKind[],
  limit: number,
  withSuspect = true,
  clock = systemClock,
): Promise<Delivery[]> {
  const common = { shardId, lease: randomUUID(), leasedAt: clock.now() };
  const { rows } = await sql<{ leased: (Omit<Delivery, 'createdAt'> & { createdAt: string })[] }>`
    select lease_deliveries(
      ${shardId}, ${textArray(kinds.map(({ name }) => name))}::text[],
      ${textArray(kinds.map(({ consumerKind }) => consumerKind))}::text[],
      ${limit}, ${withSuspect}, ${common.lease}, make_interval(secs => ${DELIVERY_LEASE_SECONDS})
    ) as leased`.execute(db);
  return rows[0]!.leased.map((row) => ({ ...row, ...common, createdAt: new Date(row.createdAt) }));
}

/**
 * Extends the leases of deliveries of one shard by DELIVERY_LEASE_SECONDS. Updates `leasedAt` of the
 * deliveries that this process still holds.
 */
export async function renewLeases(
  db: Database,
  shardId: number,
  deliveries: readonly Delivery[],
  clock = systemClock,
) {
  const renewedAt = clock.now();
  const { rows } = await sql<{ name: string }>`
    update deliveries d set due_at = now() + make_interval(secs => ${DELIVERY_LEASE_SECONDS})
    from json_to_recordset(${JSON.stringify(deliveries)}::json)
      as l (kind text, "eventId" integer, subject text, lease uuid)
    where d.shard_id = ${shardId} and d.event_id = l."eventId" and d.kind = l.kind
      and d.subject = l.subject and d.lease = l.lease and state = 'sending'
    returning d.lease || ' ' || d.subject as name`.execute(db);
  const renewed = new Set(rows.map(({ name }) => name));
  for (const delivery of deliveries)
    if (renewed.has(`${delivery.lease} ${delivery.subject}`)) delivery.leasedAt = renewedAt;
}

/** A message and the server's answer. */
export interface SentMessage<Message> {
  message: Message;
  attempt: Attempt;
  /** When the attempt ended, by the clock of the process. */
  triedAt: number;
}

/**
 * A delivery whose attempt has ended and is not recorded yet. Without the fields of `SentMessage`, nothing
 * was sent.
 */
export interface EndedDelivery<Message> extends Partial<SentMessage<Message>> {
  shardId: number;
  delivery: Delivery;
  outcome: Outcome;
}

/**
 * Records outcomes of deliveries of one shard. An outcome is ignored if another process has leased the row
 * since.
 */
export async function recordOutcomes(
  db: Database,
  shardId: number,
  ended: readonly EndedDelivery<{ revision: number }>[],
  clock = systemClock,
): Promise<void> {
  const recordedAt = clock.now();
  const outcomes = ended.map(({ delivery, outcome, message, triedAt }) => ({
    ...delivery,
    dueInMs: 0,
    ...outcome,
    triedMsAgo: triedAt === undefined ? undefined : recordedAt - triedAt,
    revision: message?.revision,
  }));
  await sql`select record_deliveries(${shardId}, ${JSON.stringify(outcomes)})`.execute(db);
}
