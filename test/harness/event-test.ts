import type { DuplicatePolicy, Mode } from '@floodgate/database';
import type { TicketSettings } from '@floodgate/tickets';
import { db, test as databaseTest } from './database-test.ts';
import { createFixture, type Fixture } from './fixture.ts';

export { database, db } from './database-test.ts';

/** The event of the running test, with its partner. */
export let gala: Fixture;
/** The event's ticket, in files that override `ticket`. */
export let ticketId: number;

interface Settings {
  event: { duplicatePolicy?: DuplicatePolicy; mode?: Mode };
  ticket: Partial<TicketSettings> | null;
}

const withSettings = databaseTest
  .extend('event', { scope: 'file' }, {} as Settings['event'])
  .extend('ticket', { scope: 'file' }, null as Settings['ticket']);

/** Gives the rest of the running test another ticket. */
export async function useTicket(ticket?: Partial<TicketSettings>): Promise<void> {
  ticketId = await gala.addTicket(ticket);
}

/** Gives the rest of the running test another event. */
export async function useEvent(
  { duplicatePolicy, mode }: Settings['event'] = {},
  ticket: Settings['ticket'] = null,
): Promise<Fixture> {
  gala = await createFixture(db, duplicatePolicy, mode);
  if (ticket) await useTicket(ticket);
  return gala;
}

const createGala = ({ event, ticket }: Settings) => useEvent(event, ticket);

/** A test that has an event. Another test has another event, in the same database. */
export const test = withSettings.extend('gala', { auto: true }, createGala);

/** A test that shares its event with the other tests of its file. */
export const sharedTest = withSettings.extend('gala', { scope: 'file', auto: true }, createGala);
