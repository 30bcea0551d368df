import type { ConsumerState, Database } from '@floodgate/database';
import { dequeue } from '@floodgate/deliveries';
import { addConsumer, deleteConsumer, pauseConsumer, resumeConsumer } from '@floodgate/journal';
import { sql } from 'kysely';
import { CONFIRMATION } from './kinds/confirmation.ts';

/** Whether e-mails of an event are sent. Off: they were never switched on, or switched off. */
export type MailSwitch = ConsumerState | 'off';

export interface SwitchedEvent {
  shardId: number;
  eventId: number;
}

/** Returns the journal consumer that queues the e-mails of an event; undefined: they are off. */
const findConsumer = (db: Database, { shardId, eventId }: SwitchedEvent) =>
  db
    .selectFrom('journal_consumers')
    .select(['shard_id as shardId', 'id', 'state'])
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', 'mail')
    .executeTakeFirst();

/** Returns whether e-mails of an event are sent. */
export async function readSwitch(db: Database, event: SwitchedEvent): Promise<MailSwitch> {
  return (await findConsumer(db, event))?.state ?? 'off';
}

// Spells "mail". Two operators at the same time would add two consumers.
const SWITCH_LOCK = 0x6d61696c;

/** Keeps others from switching until the transaction ends. */
export async function lockSwitch(transaction: Database, { eventId }: SwitchedEvent): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SWITCH_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/** Switches e-mails on, for all who are confirmed, or for those who are confirmed from now on. */
export async function switchOn(db: Database, event: SwitchedEvent, fromNow: boolean): Promise<void> {
  await addConsumer(db, { ...event, kind: 'mail', partnerId: 0, fromNow });
}

/** Switches e-mails off. Rows of attempts stay, so that nobody gets a second e-mail when they are switched on again. */
export async function switchOff(db: Database, event: SwitchedEvent): Promise<void> {
  const consumer = await findConsumer(db, event);
  if (consumer) await deleteConsumer(db, consumer);
  await dequeue(db, { ...event, kind: CONFIRMATION });
}

const CHANGES = { active: resumeConsumer, paused: pauseConsumer };

/** Pauses or resumes the e-mails of an event. */
export async function setState(
  db: Database,
  event: SwitchedEvent,
  state: keyof typeof CHANGES,
): Promise<void> {
  const consumer = await findConsumer(db, event);
  if (consumer) await CHANGES[state](db, consumer);
}
