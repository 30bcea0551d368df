import { randomUUID } from 'node:crypto';
import { askShards, shardIds, textArray, type Database } from '@floodgate/database';
import { sql, type QueryResult, type RawBuilder } from 'kysely';
import type { Ended } from './outcome.ts';

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
 *                              └ lease expired: the process died. The row is leased again and marked `possibly_twice`.
 */

/** The deliveries of one kind and event. */
export interface Queue {
  shardId: number;
  eventId: number;
  kind: string;
}

/** A delivery that this process has leased. */
export interface Delivery extends Queue {
  /** The subject of the message: a serial of a registration or an entry of a waiting list, or a webhook's id. */
  subject: string;
  /** Edition of the message. It rises when the same subject needs a newer message. */
  revision: number;
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
  /** When this process asked for the lease, by the clock of `performance`. */
  leasedAt: number;
}

/** Queues a delivery for each subject that has none yet, in one statement. `since` is the time at which the delivery became due. */
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

/** Replaces a row (`kept`) with its newer edition (`excluded`). */
const AS_INSERTED = sql`
  state = excluded.state, attempts = excluded.attempts, possibly_twice = excluded.possibly_twice, lease = null,
  reason = null, created_at = excluded.created_at, tried_at = null`;

/**
 * Queues the next edition of a delivery, or the first one. It replaces an edition that is still queued. The earliest time to send it is
 * `apartMinutes` after the previous edition was sent.
 */
export async function queueEdition(
  db: Database,
  { shardId, eventId, kind }: Queue,
  subject: string,
  apartMinutes: number,
): Promise<void> {
  // In UTC: Citus rejects an update that adds an interval to a column if the result depends on the session's time zone.
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

/** Rows that one statement reads and writes, so that it ends long before the timeout of statements. */
const WRITTEN_AT_ONCE = 20_000;

/** Returns the last subject of the range after this one. Undefined: the range has all that are left. */
const endOfRange = async (db: Database, queue: Queue, after: string) => {
  const rest = deliveriesOf(db, queue).where('subject', '>', after).orderBy('subject').select('subject');
  return (await rest.offset(WRITTEN_AT_ONCE).limit(1).executeTakeFirst())?.subject;
};

type Write = (isWanted: RawBuilder<unknown>) => Promise<QueryResult<unknown>>;

/** Writes all deliveries of a queue, one range of subjects after another. Returns the number of rows that changed. */
async function inRanges(db: Database, queue: Queue, write: Write): Promise<number> {
  let changed = 0n;
  let after: string | undefined = '';
  while (after !== undefined) {
    const end = await endOfRange(db, queue, after);
    const written = await write(sql`subject > ${after} and ${end ? sql`subject <= ${end}` : sql`true`}`);
    changed += written.numAffectedRows!;
    after = end;
  }
  return Number(changed);
}

/**
 * Queues a delivery of `kind` for each subject that got, or may have got, a delivery of the kind `after` in an edition older than
 * `revision`. Returns the number of queued deliveries. Idempotent.
 */
export async function queueFollowUps(
  db: Database,
  { shardId, eventId, kind }: Queue,
  { after, revision }: { after: string; revision: number },
): Promise<number> {
  const followUp: Write = (isWanted) =>
    sql`
    insert into deliveries as kept (shard_id, event_id, kind, subject, revision)
    select shard_id, event_id, ${kind}::text, subject, ${revision}::integer from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${after} and revision < ${revision}
      and (state in ('sent', 'sending') or possibly_twice) and ${isWanted}
    on conflict (shard_id, event_id, kind, subject) do update
    set revision = excluded.revision, ${AS_INSERTED}, due_at = excluded.due_at
    where kept.revision < excluded.revision`.execute(db);
  return inRanges(db, { shardId, eventId, kind: after }, followUp);
}

/**
 * Queues deliveries again that have ended or wait for a retry, as if they were new: that of a subject, or all (null). Cancelled ones stay
 * as they are. Returns the number of queued deliveries.
 */
export async function requeueDeliveries(db: Database, queue: Queue, subject: string | null): Promise<number> {
  const { shardId, eventId, kind } = queue;
  const requeue: Write = (isWanted) =>
    sql`
    update deliveries set state = 'queued', attempts = 0, possibly_twice = false, lease = null, reason = null,
      created_at = now(), tried_at = null, due_at = now()
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${kind}
      and ${isWanted} and state not in ('queued', 'sending', 'cancelled')`.execute(db);
  if (subject === null) return inRanges(db, queue, requeue);
  return Number((await requeue(sql`subject = ${subject}`)).numAffectedRows);
}

const deliveriesOf = (db: Database, { shardId, eventId, kind }: Queue) =>
  db.selectFrom('deliveries').where(({ and }) => and({ shard_id: shardId, event_id: eventId, kind }));

/** Returns whether at least `count` deliveries are due. Deliveries that wait for a retry do not count. */
export async function hasQueued(db: Database, queue: Queue, count: number): Promise<boolean> {
  const isDue = sql<boolean>`state in ('queued', 'retry', 'sending') and due_at <= now()`;
  const due = deliveriesOf(db, queue).where(isDue).select('kind').limit(1);
  return (await due.offset(count - 1).executeTakeFirst()) !== undefined;
}

/** Returns how many deliveries of a kind and event were sent. */
export async function countSent(db: Database, queue: Queue): Promise<number> {
  const count = sql<number>`count(sent_at)`.as('sent');
  return (await deliveriesOf(db, queue).select(count).executeTakeFirstOrThrow()).sent;
}

const UNFINISHED = ['queued', 'retry', 'sending'] as const;

/** Returns how many deliveries are not finished, by kind and state, of all shards that answer. Reads only those. */
export async function countUnfinished(db: Database) {
  const { answers } = await askShards(await shardIds(db), (shardId) =>
    db
      .selectFrom('deliveries')
      .select(({ fn }) => ['kind', 'state', fn.countAll<number>().as('count')])
      .where('shard_id', '=', shardId)
      .where('state', 'in', UNFINISHED)
      .groupBy(['kind', 'state'])
      .execute(),
  );
  return answers.flat();
}

/** Deletes deliveries that were never sent, and that no process is trying to send. Those that were queued again are `sent` again. */
export async function dequeue(db: Database, queue: Queue): Promise<void> {
  const { shardId, eventId, kind } = queue;
  const untried = sql`
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${kind} and state = 'queued' and not possibly_twice`;
  await sql`update deliveries set state = 'sent' ${untried} and sent_at is not null`.execute(db);
  await sql`delete from deliveries ${untried}`.execute(db);
}

/** Returns the state of a delivery; undefined if there is none. */
export const findDelivery = (db: Database, queue: Queue, subject: string) =>
  deliveriesOf(db, queue)
    .select(['state', 'reason', 'created_at as createdAt', 'sent_at as sentAt'])
    .where('subject', '=', subject)
    .executeTakeFirst();

/** A crashed process keeps its rows leased for this long. */
export const LEASE_SECONDS = 30;

/** A kind to lease. */
export interface LeasedKind {
  name: string;
  /**
   * Lease only deliveries of events with an active journal consumer of this kind, which is the operator's switch. Null: lease those of all
   * events.
   */
  consumerKind: string | null;
}

/**
 * Leases up to `most` due deliveries of a shard. They are committed as `sending` when this resolves. At most one of them is a suspect, and
 * none without `withSuspect`.
 */
export async function leaseDeliveries(
  db: Database,
  shardId: number,
  kinds: readonly LeasedKind[],
  most: number,
  withSuspect = true,
): Promise<Delivery[]> {
  const common = { shardId, lease: randomUUID(), leasedAt: performance.now() };
  const { rows } = await sql<{ leased: (Omit<Delivery, 'createdAt'> & { createdAt: string })[] }>`
    select lease_deliveries(
      ${shardId}, ${textArray(kinds.map(({ name }) => name))}::text[],
      ${textArray(kinds.map(({ consumerKind }) => consumerKind))}::text[],
      ${most}, ${withSuspect}, ${common.lease}, make_interval(secs => ${LEASE_SECONDS})
    ) as leased`.execute(db);
  return rows[0]!.leased.map((row) => ({ ...row, ...common, createdAt: new Date(row.createdAt) }));
}

/** Extends the leases of deliveries of one shard by LEASE_SECONDS. Updates `leasedAt` of the deliveries that this process still holds. */
export async function renewLeases(db: Database, shardId: number, deliveries: readonly Delivery[]) {
  const renewedAt = performance.now();
  const { rows } = await sql<{ name: string }>`
    update deliveries d set due_at = now() + make_interval(secs => ${LEASE_SECONDS})
    from json_to_recordset(${JSON.stringify(deliveries)}::json)
      as l (kind text, "eventId" integer, subject text, lease uuid)
    where d.shard_id = ${shardId} and d.event_id = l."eventId" and d.kind = l.kind
      and d.subject = l.subject and d.lease = l.lease and state = 'sending'
    returning d.lease || ' ' || d.subject as name`.execute(db);
  const kept = new Set(rows.map(({ name }) => name));
  for (const delivery of deliveries)
    if (kept.has(`${delivery.lease} ${delivery.subject}`)) delivery.leasedAt = renewedAt;
}

/** Records outcomes of deliveries of one shard. An outcome is ignored if another process has leased the row since. */
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
    triedMsAgo: triedAt && recordedAt - triedAt,
    revision: message?.revision,
  }));
  await sql`select record_deliveries(${shardId}, ${JSON.stringify(outcomes)})`.execute(db);
}

/** Maximum number of rows that one statement deletes. */
const PRUNED_AT_ONCE = 5_000;

/**
 * Deletes finished deliveries of a shard that are older than `days` and whose journal entry has expired. While the journal has the entry,
 * the row prevents a second message. Returns whether more may be left.
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
