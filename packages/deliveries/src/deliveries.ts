import { randomUUID } from 'node:crypto';
import { textArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { Ended } from './outcome.ts';

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

/** The subjects of deliveries of one kind. */
export interface Queue {
  shardId: number;
  eventId: number;
  kind: string;
}

/** A delivery that this process has leased. */
export interface Delivery extends Queue {
  /** The subject of the message: a registration's serial, or a webhook's id. */
  subject: string;
  /** Which edition of the message: it rises when the same subject needs a newer message. */
  revision: number;
  /** Attempts that counted, and attempts in which the process died. */
  attempts: number;
  /** An earlier attempt may have succeeded without its outcome being recorded. */
  possiblyTwice: boolean;
  /** Processes have died in several attempts: it may be the cause. */
  isSuspect: boolean;
  createdAt: Date;
  /** Milliseconds from the last attempt to the lease; null: there was no attempt. */
  triedMsAgo: number | null;
  lease: string;
  /** When this process asked for the lease, by the clock of `performance`. */
  leasedAt: number;
}

const inQueue = ({ shardId, eventId, kind }: Queue) => ({ shard_id: shardId, event_id: eventId, kind });

/** Queues a delivery for each subject that has none yet: one statement for a whole page. `since`: when each became due. */
export async function queueDeliveries(
  db: Database,
  { shardId, eventId, kind }: Queue,
  subjects: readonly { subject: string; since: Date }[],
): Promise<void> {
  if (subjects.length === 0) return;
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, created_at)
    select ${shardId}::integer, ${eventId}::integer, ${kind}::text, subject, since
    from json_to_recordset(${JSON.stringify(subjects)}::json) as queued (subject text, since timestamptz)
    on conflict (shard_id, event_id, kind, subject) do nothing`.execute(db);
}

/** Replaces a row (`kept`) by its newer edition (`excluded`). */
const AS_INSERTED = sql`
  state = excluded.state, attempts = excluded.attempts, possibly_twice = excluded.possibly_twice, lease = null,
  reason = null, created_at = excluded.created_at, tried_at = null`;

/**
 * Queues a newer edition of a delivery, or its first. An earlier edition that waits is replaced. The message is not sent before
 * `apartMinutes` have passed since the last one was.
 */
export async function queueEdition(
  db: Database,
  { shardId, eventId, kind }: Queue,
  subject: string,
  apartMinutes: number,
): Promise<void> {
  // At UTC: Citus adds nothing to a row's own value in an update that depends on the time zone.
  const sentAtUtc = sql`kept.sent_at at time zone 'utc'`;
  await sql`
    insert into deliveries as kept (shard_id, event_id, kind, subject)
    values (${shardId}, ${eventId}, ${kind}, ${subject})
    on conflict (shard_id, event_id, kind, subject) do update
    set revision = kept.revision + 1, ${AS_INSERTED},
      due_at = greatest(
        excluded.due_at, (${sentAtUtc} + make_interval(mins => ${apartMinutes}::integer)) at time zone 'utc'
      )`.execute(db);
}

/**
 * Queues a delivery of `kind` for each subject to which one of `after` was sent, or may have been sent, in an edition older than
 * `revision`. Returns how many there are. Repeating it changes nothing.
 */
export async function queueFollowUps(
  db: Database,
  { shardId, eventId, kind }: Queue,
  { after, revision }: { after: string; revision: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into deliveries as kept (shard_id, event_id, kind, subject, revision)
    select shard_id, event_id, ${kind}::text, subject, ${revision}::integer from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${after} and revision < ${revision}
      and (state in ('sent', 'sending') or possibly_twice)
    on conflict (shard_id, event_id, kind, subject) do update
    set revision = excluded.revision, ${AS_INSERTED}, due_at = excluded.due_at
    where kept.revision < excluded.revision`.execute(db);
  return Number(numAffectedRows);
}

const deliveriesOf = (db: Database, queue: Queue) =>
  db.selectFrom('deliveries').where((where) => where.and(inQueue(queue)));

/** Returns whether at least `count` deliveries are due. Those that are tried again later do not count. */
export async function hasQueued(db: Database, queue: Queue, count: number): Promise<boolean> {
  const due = sql<boolean>`state in ('queued', 'retry', 'sending') and due_at <= now()`;
  const nth = deliveriesOf(db, queue)
    .where(due)
    .select('kind')
    .offset(count - 1)
    .limit(1);
  return (await nth.executeTakeFirst()) !== undefined;
}

/** Returns how many subjects have had a delivery of a kind. */
export async function countSent(db: Database, queue: Queue): Promise<number> {
  const sent = deliveriesOf(db, queue).where('sent_at', 'is not', null);
  return (await sent.select((of) => of.fn.countAll<number>().as('sent')).executeTakeFirstOrThrow()).sent;
}

/** Deletes deliveries that nobody has tried to send. */
export async function dequeue(db: Database, queue: Queue): Promise<void> {
  const untried = { ...inQueue(queue), state: 'queued', possibly_twice: false } as const;
  const rows = db.deleteFrom('deliveries').where((where) => where.and(untried));
  await rows.execute();
}

/** Returns what became of a delivery; undefined: there is none. */
export const findDelivery = (db: Database, queue: Queue, subject: string) =>
  deliveriesOf(db, queue)
    .select(['state', 'reason', 'created_at as createdAt', 'sent_at as sentAt'])
    .where('subject', '=', subject)
    .executeTakeFirst();

/** How long a crashed process keeps its rows from other processes. */
export const LEASE_SECONDS = 30;

/** A kind to lease. */
export interface LeasedKind {
  name: string;
  /** Only of events that have an active journal consumer of this kind: the operator's switch. Null: of all events. */
  consumerKind: string | null;
}

/**
 * Leases up to `most` due deliveries of a shard. They are committed as `sending` when this resolves. At most one of them is a
 * suspect, and none if not `withSuspect`.
 */
export async function leaseDeliveries(
  db: Database,
  shardId: number,
  kinds: readonly LeasedKind[],
  most: number,
  withSuspect = true,
): Promise<Delivery[]> {
  const ofLease = { shardId, lease: randomUUID(), leasedAt: performance.now() };
  const { rows } = await sql<{ leased: (Omit<Delivery, 'createdAt'> & { createdAt: string })[] }>`
    select lease_deliveries(
      ${shardId}, ${textArray(kinds.map(({ name }) => name))}::text[],
      ${textArray(kinds.map(({ consumerKind }) => consumerKind))}::text[],
      ${most}, ${withSuspect}, ${ofLease.lease}, make_interval(secs => ${LEASE_SECONDS})
    ) as leased`.execute(db);
  return rows[0]!.leased.map((row) => ({ ...row, ...ofLease, createdAt: new Date(row.createdAt) }));
}

/** Extends leases of one shard by another LEASE_SECONDS. `leasedAt` changes of those that this process still has. */
export async function renewLeases(db: Database, shardId: number, deliveries: readonly Delivery[]) {
  const renewedAt = performance.now();
  const { rows } = await sql<{ name: string }>`
    update deliveries set due_at = now() + make_interval(secs => ${LEASE_SECONDS})
    from json_to_recordset(${JSON.stringify(deliveries)}::json)
      as leased (kind text, "eventId" integer, subject text, lease uuid)
    where deliveries.shard_id = ${shardId} and deliveries.event_id = leased."eventId" and deliveries.kind = leased.kind
      and deliveries.subject = leased.subject and deliveries.lease = leased.lease and state = 'sending'
    returning deliveries.lease || ' ' || deliveries.subject as name`.execute(db);
  const kept = new Set(rows.map(({ name }) => name));
  for (const delivery of deliveries)
    if (kept.has(`${delivery.lease} ${delivery.subject}`)) delivery.leasedAt = renewedAt;
}

/** Records outcomes of deliveries of one shard. An outcome is ignored where another process has the row by now. */
export async function recordOutcomes(
  db: Database,
  shardId: number,
  ended: readonly Ended<{ revision: number }>[],
): Promise<void> {
  const recordedAt = performance.now();
  const outcomes = ended.map(({ delivery, outcome, message, triedAt }) => ({
    ...delivery,
    dueInMs: 0,
    ...outcome,
    triedMsAgo: triedAt === undefined ? null : recordedAt - triedAt,
    revision: message?.revision,
  }));
  await sql`select record_deliveries(${shardId}, ${JSON.stringify(outcomes)})`.execute(db);
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
