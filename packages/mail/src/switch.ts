import type { ConsumerState, Database } from '@floodgate/database';
import { addConsumer } from '@floodgate/journal';
import { sql } from 'kysely';

/** Whether e-mails of an event are sent. Off: nobody has switched them on. */
export type MailSwitch = ConsumerState | 'off';

/** Where the e-mails of an event stand. */
export interface SwitchedEvent {
  shardId: number;
  eventId: number;
}

const consumerOf = (db: Database, { shardId, eventId }: SwitchedEvent) =>
  db
    .selectFrom('journal_consumers')
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', 'mail');

/** Returns whether e-mails of an event are sent. */
export async function readSwitch(db: Database, event: SwitchedEvent): Promise<MailSwitch> {
  const consumer = await consumerOf(db, event).select('state').executeTakeFirst();
  return consumer?.state ?? 'off';
}

// Spells "mail". Two that switch on at once would add two readers.
const SWITCH_LOCK = 0x6d61696c;

/** Keeps others from switching until the transaction ends. */
export async function lockSwitch(transaction: Database, { eventId }: SwitchedEvent): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SWITCH_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/** Has e-mails of an event sent, to all who are confirmed, or only to those who are from now on. */
export async function switchOn(db: Database, event: SwitchedEvent, fromNow: boolean): Promise<void> {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', event.shardId);
  const after = fromNow ? (await heads.executeTakeFirstOrThrow()).last_offset : 0;
  await addConsumer(db, { ...event, kind: 'mail', partnerId: 0, after });
}

/** Has no more e-mails of an event sent. What was sent stays noted: nobody gets a second one. */
export async function switchOff(db: Database, { shardId, eventId }: SwitchedEvent): Promise<void> {
  await sql`
    delete from journal_consumers
    where shard_id = ${shardId} and event_id = ${eventId} and kind = 'mail'`.execute(db);
}

/** Has the e-mails of an event wait, or go on. Whoever has the lease notices before it sends the next. */
export async function setState(
  db: Database,
  { shardId, eventId }: SwitchedEvent,
  state: 'active' | 'paused',
): Promise<void> {
  await sql`
    update journal_consumers set state = ${state}, lease = null, leased_until = null, next_at = now()
    where shard_id = ${shardId} and event_id = ${eventId} and kind = 'mail'`.execute(db);
}
