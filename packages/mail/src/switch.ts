import type { ConsumerState, Database } from '@floodgate/database';
import {
  addConsumer,
  deleteDisabledConsumers,
  disableConsumer,
  pauseConsumer,
  resumeConsumer,
} from '@floodgate/journal';
import { sql } from 'kysely';

/** Whether e-mails of an event are sent. Off: nobody has switched them on. */
export type MailSwitch = ConsumerState | 'off';

/** Where the e-mails of an event stand. */
export interface SwitchedEvent {
  shardId: number;
  eventId: number;
}

/** Returns the reader that sends the e-mails of an event; undefined: nobody has switched them on. One that is disabled was switched off. */
const findReader = (db: Database, { shardId, eventId }: SwitchedEvent) =>
  db
    .selectFrom('journal_consumers')
    .select(['shard_id as shardId', 'id', 'state'])
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', 'mail')
    .where('state', '<>', 'disabled')
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

/** Has e-mails of an event sent, to all who are confirmed, or only to those who are from now on. */
export async function switchOn(db: Database, event: SwitchedEvent, fromNow: boolean): Promise<void> {
  await addConsumer(db, { ...event, kind: 'mail', partnerId: 0, fromNow });
}

/** Has no more e-mails of an event sent. What was sent stays noted: nobody gets a second one. */
export async function switchOff(db: Database, event: SwitchedEvent): Promise<void> {
  const reader = await findReader(db, event);
  if (!reader) return;
  // A process that waits for the server's answers keeps its lease until they are recorded. The row stays for it.
  await disableConsumer(db, reader);
  await deleteDisabledConsumers(db, { ...event, kind: 'mail' });
}

/**
 * Returns whether a process still sends e-mails of this event from before they were switched off and on again. What becomes of
 * those is not recorded yet.
 */
export async function isStillSent(db: Database, { shardId, eventId }: SwitchedEvent): Promise<boolean> {
  const { rows } = await sql`
    select from journal_consumers
    where shard_id = ${shardId} and event_id = ${eventId} and kind = 'mail' and state = 'disabled'
      and leased_until > now()`.execute(db);
  return rows.length > 0;
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
