import { plainArray, textArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';

/** The subjects of deliveries of one kind. */
export interface Queue {
  shardId: number;
  eventId: number;
  kind: string;
}

/** Queues a delivery for each subject that has none yet: one statement for a whole page. `since`: when each became due. */
export async function queueDeliveries(
  db: Database,
  { shardId, eventId, kind }: Queue,
  subjects: readonly { subject: string; since: Date }[],
): Promise<void> {
  if (subjects.length === 0) return;
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, created_at)
    select ${shardId}::integer, ${eventId}::integer, ${kind}::text, subject, to_timestamp(since_ms / 1000)
    from unnest(
      ${textArray(subjects.map(({ subject }) => subject))}::text[],
      ${plainArray(subjects.map(({ since }) => since.getTime()))}::double precision[]
    ) as queued (subject, since_ms)
    on conflict (shard_id, event_id, kind, subject) do nothing`.execute(db);
}

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
  await sql`
    select queue_edition(
      ${shardId}, ${eventId}, ${kind}, ${subject}, make_interval(mins => ${apartMinutes})
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
    set revision = excluded.revision, state = excluded.state, attempts = excluded.attempts,
      possibly_twice = excluded.possibly_twice, lease = null, reason = null, created_at = excluded.created_at,
      tried_at = null, due_at = excluded.due_at
    where kept.revision < excluded.revision`.execute(db);
  return Number(numAffectedRows);
}

/** Returns how many deliveries wait to be sent. Stops counting at `most`. */
export async function countQueued(
  db: Database,
  { shardId, eventId, kind }: Queue,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ queued: number }>`
    select count(*) as queued from (
      select from deliveries
      where shard_id = ${shardId} and kind = ${kind} and event_id = ${eventId} and state in ('queued', 'retry', 'sending')
      limit ${most}
    ) open`.execute(db);
  return rows[0]!.queued;
}

/** Returns how many subjects have had a delivery of a kind. */
export async function countSent(db: Database, { shardId, eventId, kind }: Queue): Promise<number> {
  const { rows } = await sql<{ sent: number }>`
    select count(*) as sent from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${kind} and sent_at is not null`.execute(
    db,
  );
  return rows[0]!.sent;
}

/** Deletes deliveries that nobody has tried to send. */
export async function dequeue(db: Database, { shardId, eventId, kind }: Queue): Promise<void> {
  await sql`
    delete from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = ${kind}
      and state = 'queued' and not possibly_twice`.execute(db);
}

/** Returns what became of a delivery; undefined: there is none. */
export const findDelivery = (db: Database, { shardId, eventId, kind }: Queue, subject: string) =>
  db
    .selectFrom('deliveries')
    .select(['state', 'reason', 'created_at as createdAt', 'sent_at as sentAt'])
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirst();
