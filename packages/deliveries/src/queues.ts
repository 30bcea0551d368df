import { askShards, shardIds, textArray, type Database, type DeliveryState } from '@floodgate/database';
import { sql, type QueryResult, type RawBuilder } from 'kysely';
import { deliveriesOf, type Queue } from './delivery-rows.ts';

// Changes and counts of deliveries, outside of the loop that sends them.

/** Replaces a row (`kept`) with its newer edition (`excluded`). */
const AS_INSERTED = sql`
  state = excluded.state, attempts = excluded.attempts, possibly_twice = excluded.possibly_twice, lease = null,
  reason = null, created_at = excluded.created_at, tried_at = null, failing_since = null`;

/**
 * Queues the next edition of a delivery, or the first one. It replaces an edition that is still queued. The
 * earliest time to send it is `apartMinutes` after the previous edition was sent.
 */
export async function queueEdition(
  db: Database,
  { shardId, eventId, kind }: Queue,
  subject: string,
  apartMinutes: number,
): Promise<void> {
  // In UTC: Citus rejects an update that adds an interval to a column if the result depends on the session's
  // time zone.
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
const ROWS_PER_STATEMENT = 20_000;

/** Returns the last subject of the range after this one. Undefined: the range has all that are left. */
const endOfRange = async (db: Database, queue: Queue, after: string) => {
  const rest = deliveriesOf(db, queue).where('subject', '>', after).orderBy('subject').select('subject');
  return (await rest.offset(ROWS_PER_STATEMENT).limit(1).executeTakeFirst())?.subject;
};

/** Writes the rows that meet a condition. */
type Write = (isInRange: RawBuilder<unknown>) => Promise<QueryResult<unknown>>;

/**
 * Writes all deliveries of a queue, one range of subjects after another. Returns the number of rows that
 * changed.
 */
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
 * The edition that a recipient has when a row (`kept`) is replaced. Not known if an attempt may have told a
 * newer one.
 */
const TOLD = sql`case
  when kept.state = 'sent' then greatest(kept.revision, excluded.told_revision)
  when kept.state <> 'sending' and not kept.possibly_twice
    then greatest(kept.told_revision, excluded.told_revision)
end`;

/**
 * Queues a delivery of `kind` for each subject that got, or may have got, a delivery of the kind `after` in
 * an edition older than `revision`. Returns the number of queued deliveries. Idempotent.
 */
export async function queueFollowUps(
  db: Database,
  { shardId, eventId, kind }: Queue,
  { after, revision }: { after: string; revision: number },
): Promise<number> {
  const followUp: Write = (isInRange) =>
    sql`
    insert into deliveries as kept (shard_id, event_id, kind, subject, revision, told_revision)
    select shard_id, event_id, ${kind}::text, subject, ${revision}::integer,
      case when state = 'sent' then deliveries.revision end
    from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${after} and revision < ${revision}
      and (state in ('sent', 'sending') or possibly_twice) and ${isInRange}
    on conflict (shard_id, event_id, kind, subject) do update
    set revision = excluded.revision, ${AS_INSERTED}, due_at = excluded.due_at, told_revision = ${TOLD}
    where kept.revision < excluded.revision`.execute(db);
  return inRanges(db, { shardId, eventId, kind: after }, followUp);
}

/**
 * Queues deliveries again that have ended or wait for a retry, as if they were new: that of a subject, or all
 * (null). Cancelled ones stay as they are. Returns the number of queued deliveries.
 */
export async function requeueDeliveries(db: Database, queue: Queue, subject: string | null): Promise<number> {
  const { shardId, eventId, kind } = queue;
  const requeue: Write = (isInRange) =>
    sql`
    update deliveries set state = 'queued', attempts = 0, possibly_twice = false, lease = null, reason = null,
      created_at = now(), tried_at = null, failing_since = null, due_at = now()
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${kind}
      and ${isInRange} and state not in ('queued', 'sending', 'cancelled')`.execute(db);
  if (subject === null) return inRanges(db, queue, requeue);
  return Number((await requeue(sql`subject = ${subject}`)).numAffectedRows);
}

/** Returns how many deliveries of a kind and event were sent. */
export async function countSent(db: Database, queue: Queue): Promise<number> {
  const count = sql<number>`count(sent_at)`.as('sent');
  return (await deliveriesOf(db, queue).select(count).executeTakeFirstOrThrow()).sent;
}

const UNFINISHED = ['queued', 'retry', 'sending'] as const;

/**
 * Returns how many deliveries are not finished, by kind and state, of all shards that answer. Reads only
 * those.
 */
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

/**
 * Deletes deliveries that were never sent, and that no process is trying to send. Those that were queued
 * again are `sent` again.
 */
export async function dequeue(db: Database, queue: Queue): Promise<void> {
  const { shardId, eventId, kind } = queue;
  const untried = sql`
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${kind}
      and state = 'queued' and not possibly_twice`;
  await sql`update deliveries set state = 'sent' ${untried} and sent_at is not null`.execute(db);
  await sql`delete from deliveries ${untried}`.execute(db);
}

/** A delivery, and whether the recipient got it or may have got it. */
export interface DeliveryTrace {
  state: DeliveryState;
  hasArrived: boolean;
}

/** Returns the deliveries of a queue with these subjects, by subject. */
export async function traceDeliveries(
  db: Database,
  queue: Queue,
  subjects: readonly string[],
): Promise<Map<string, DeliveryTrace>> {
  if (subjects.length === 0) return new Map();
  const rows = await deliveriesOf(db, queue)
    .select(['subject', 'state', sql<boolean>`sent_at is not null or possibly_twice`.as('hasArrived')])
    .where('subject', '=', sql<string>`any(${textArray(subjects)}::text[])`)
    .execute();
  return new Map(rows.map(({ subject, ...trace }) => [subject, trace]));
}

/** Returns the state of a delivery; undefined if there is none. */
export const findDelivery = (db: Database, queue: Queue, subject: string) =>
  deliveriesOf(db, queue)
    .select(['state', 'reason', 'created_at as createdAt', 'sent_at as sentAt'])
    .where('subject', '=', subject)
    .executeTakeFirst();

/** Maximum number of rows that one statement deletes. */
const PRUNED_PER_STATEMENT = 5_000;

/**
 * Deletes finished deliveries of a shard that are older than `days` and whose journal entry has expired.
 * While the journal has the entry, the row prevents a second message. Returns whether more may be left.
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
      limit ${PRUNED_PER_STATEMENT}
    ))`.execute(db);
  return Number(numAffectedRows) >= PRUNED_PER_STATEMENT;
}
