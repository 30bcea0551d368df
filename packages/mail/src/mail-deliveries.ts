import { plainArray, textArray, type Database, type MailState } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { sql } from 'kysely';

/** What became of the e-mail about a registration. */
export interface Delivery {
  shardId: number;
  eventId: number;
  serial: number;
  state: MailState;
  reason: string | null;
  attempts: number;
  isDoubtful: boolean;
  /** Where it is tried again: after how long. */
  retryInMs: number | null;
  /** When the registration was confirmed. */
  since: Date;
}

/**
 * Writes what became of e-mails of one shard, each registration once. What is there already stays, unless that was to be tried
 * again.
 */
export async function recordDeliveries(db: Database, deliveries: readonly Delivery[]): Promise<void> {
  const [{ shardId }] = deliveries as [Delivery];
  const plain = (name: keyof Delivery) =>
    plainArray(deliveries.map((delivery) => delivery[name] as number | string | null));
  // Not boolean[] of booleans: array literals are written of numbers and text.
  const doubtful = plainArray(deliveries.map(({ isDoubtful }) => (isDoubtful ? 't' : 'f')));
  const sinceMs = plainArray(deliveries.map(({ since }) => since.getTime()));
  await sql`
    insert into mail_deliveries as kept
      (shard_id, event_id, serial, state, reason, attempts, doubtful, next_at, since, at)
    select ${shardId}::integer, event_id, serial, state, reason, attempts, doubtful,
      now() + make_interval(secs => retry_in_ms / 1000), to_timestamp(since_ms / 1000), now()
    from unnest(${plain('eventId')}::integer[], ${plain('serial')}::bigint[], ${plain('state')}::text[],
      ${textArray(deliveries.map(({ reason }) => reason))}::text[], ${plain('attempts')}::integer[],
      ${doubtful}::boolean[], ${plain('retryInMs')}::double precision[], ${sinceMs}::double precision[])
      as delivery (event_id, serial, state, reason, attempts, doubtful, retry_in_ms, since_ms)
    on conflict (shard_id, event_id, serial) do update set
      state = excluded.state, reason = excluded.reason, attempts = excluded.attempts, doubtful = excluded.doubtful,
      next_at = excluded.next_at, at = excluded.at
    where kept.state = 'retry'`.execute(db);
}

/** Returns which of these registrations need nothing more from who reads the journal. */
export async function findRecorded(
  db: Database,
  shardId: number,
  eventId: number,
  serials: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ serial: number }>`
    select serial from mail_deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and serial = any(${plainArray(serials)}::bigint[])`.execute(
    db,
  );
  return new Set(rows.map(({ serial }) => serial));
}

/** An e-mail that is to be tried again. */
export interface DueDelivery {
  eventId: number;
  serial: number;
  since: Date;
  attempts: number;
  isDoubtful: boolean;
  /** When it was taken, by Postgres's clock. As text: a Date has no microseconds. */
  claimedAt: string;
}

/** How long others leave alone what one process tries again, where it does not say that it still does. */
export const CLAIM_SECONDS = 180;
/** How long what was taken in vain waits. */
const GIVEN_BACK_SECONDS = 10;

/**
 * Takes up to `most` e-mails of a shard that are to be tried again now, the longest waiting first, of events whose e-mails are
 * switched on. Should the process die with them, others try them again and know that it may be for the second time.
 */
export async function claimDue(db: Database, shardId: number, most: number): Promise<DueDelivery[]> {
  const { rows: active } = await sql<{ eventId: number }>`
    select event_id as "eventId" from journal_consumers
    where shard_id = ${shardId} and kind = 'mail' and state = 'active'`.execute(db);
  if (active.length === 0) return [];
  return inTransaction(db, async (transaction) => {
    const { rows: due } = await sql<DueDelivery>`
      select event_id as "eventId", serial, since, attempts, doubtful as "isDoubtful", now()::text as "claimedAt" from mail_deliveries
      where shard_id = ${shardId} and state = 'retry' and next_at <= now()
        and event_id = any(${plainArray(active.map(({ eventId }) => eventId))}::integer[])
      order by next_at limit ${most} for update skip locked`.execute(transaction);
    if (due.length > 0)
      await sql`
        update mail_deliveries set next_at = now() + make_interval(secs => ${CLAIM_SECONDS}), doubtful = true
        from unnest(${plainArray(due.map(({ eventId }) => eventId))}::integer[],
          ${plainArray(due.map(({ serial }) => serial))}::bigint[]) as due (event_id, serial)
        where mail_deliveries.shard_id = ${shardId} and mail_deliveries.event_id = due.event_id
          and mail_deliveries.serial = due.serial`.execute(transaction);
    return due;
  });
}

/** Has others leave alone for longer what this process still tries again. */
export async function renewClaim(db: Database, shardId: number, due: readonly DueDelivery[]): Promise<void> {
  await sql`
    update mail_deliveries set next_at = now() + make_interval(secs => ${CLAIM_SECONDS})
    from unnest(${plainArray(due.map(({ eventId }) => eventId))}::integer[],
      ${plainArray(due.map(({ serial }) => serial))}::bigint[]) as due (event_id, serial)
    where mail_deliveries.shard_id = ${shardId} and mail_deliveries.event_id = due.event_id
      and mail_deliveries.serial = due.serial and mail_deliveries.state = 'retry'
      -- Once an outcome is recorded, its retry time stays.
      and mail_deliveries.at < ${due[0]!.claimedAt}::timestamptz`.execute(db);
}

/** Gives back what was taken and not tried, with the doubts that there were before. */
export async function giveBack(db: Database, shardId: number, due: readonly DueDelivery[]): Promise<void> {
  const plain = (name: 'eventId' | 'serial') => plainArray(due.map((one) => one[name]));
  await sql`
    update mail_deliveries set next_at = now() + make_interval(secs => ${GIVEN_BACK_SECONDS}), doubtful = due.doubtful
    from unnest(${plain('eventId')}::integer[], ${plain('serial')}::bigint[],
      ${plainArray(due.map(({ isDoubtful }) => (isDoubtful ? 't' : 'f')))}::boolean[]) as due (event_id, serial, doubtful)
    where mail_deliveries.shard_id = ${shardId} and mail_deliveries.event_id = due.event_id
      and mail_deliveries.serial = due.serial and mail_deliveries.state = 'retry'`.execute(db);
}
