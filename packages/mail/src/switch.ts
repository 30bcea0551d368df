import type { ConsumerState, Database } from '@floodgate/database';
import { addConsumer, deleteConsumer, pauseConsumer, resumeConsumer } from '@floodgate/journal';
import { sql } from 'kysely';

/** Whether e-mails of an event are sent. Off: nobody has switched them on. */
export type MailSwitch = ConsumerState | 'off';

/** Where the e-mails of an event stand. */
export interface SwitchedEvent {
  shardId: number;
  eventId: number;
}

/** Returns the reader that sends the e-mails of an event; undefined: nobody has switched them on. */
const findReader = (db: Database, { shardId, eventId }: SwitchedEvent) =>
  db
    .selectFrom('journal_consumers')
    .select(['shard_id as shardId', 'id', 'state'])
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', 'mail')
    .executeTakeFirst();

/** Returns whether e-mails of an event are sent. */
export async function readSwitch(db: Database, event: SwitchedEvent): Promise<MailSwitch> {
  return (await findReader(db, event))?.state ?? 'off';
}

// Spells "mail". Two that switch on at once would add two readers.
const SWITCH_LOCK = 0x6d61696c;

/** Keeps others from switching until the transaction ends. */
export async function lockSwitch(transaction: Database, { eventId }: SwitchedEvent): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SWITCH_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/** When e-mails that were under way as they were switched off have ended, and are noted. */
const SETTLED_AFTER_SECONDS = 5;

/** Has e-mails of an event sent, to all who are confirmed, or only to those who are from now on. */
export async function switchOn(db: Database, event: SwitchedEvent, fromNow: boolean): Promise<void> {
  const wasOn = await db
    .selectFrom('mail_deliveries')
    .select('serial')
    .where('shard_id', '=', event.shardId)
    .where('event_id', '=', event.eventId)
    .limit(1)
    .executeTakeFirst();
  const startsInSeconds = wasOn ? SETTLED_AFTER_SECONDS : 0;
  await addConsumer(db, { ...event, kind: 'mail', partnerId: 0, fromNow, startsInSeconds });
}

/** Has no more e-mails of an event sent. What was sent stays noted: nobody gets a second one. */
export async function switchOff(db: Database, event: SwitchedEvent): Promise<void> {
  const reader = await findReader(db, event);
  if (reader) await deleteConsumer(db, reader);
}

const CHANGES = { active: resumeConsumer, paused: pauseConsumer };

/** Has the e-mails of an event wait, or go on. Those that are under way are sent, and noted, before anybody sends others. */
export async function setState(
  db: Database,
  event: SwitchedEvent,
  state: keyof typeof CHANGES,
): Promise<void> {
  const reader = await findReader(db, event);
  if (reader) await CHANGES[state](db, reader, 'stays');
}
