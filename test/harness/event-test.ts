import type { DuplicatePolicy, Mode } from '@floodgate/database';
import type { TicketSettings } from '@floodgate/tickets';
import { databaseTest, type FileOptions, type GivenDatabase } from './database-test.ts';
import { createFixture, type Fixture } from './fixture.ts';

export interface EventSettings {
  duplicatePolicy?: DuplicatePolicy;
  mode?: Mode;
}

/** `null`: the event has no ticket. */
export type TicketOfTest = Partial<TicketSettings> | null;

export interface GivenEvent extends GivenDatabase {
  /** The event of the running test, with its partner. */
  gala: Fixture;
  /** The event's ticket, in files that override `ticket`. */
  ticketId: number;
  /** Gives the rest of the running test another ticket. */
  useTicket(ticket?: Partial<TicketSettings>): Promise<void>;
  /** Gives the rest of the running test another event. */
  useEvent(event?: EventSettings, ticket?: TicketOfTest): Promise<Fixture>;
}

export interface EventOptions extends FileOptions {
  /** All tests of the file have the same event. Otherwise each test has an event of its own. */
  sharesEvent?: boolean;
}

/** Returns the `test` of a file whose tests have an event. A file overrides `event` and `ticket` for other settings. */
export function eventTest({ sharesEvent = false, ...options }: EventOptions = {}) {
  const { test: withDatabase, given: givenDatabase } = databaseTest(options);
  const given = givenDatabase as GivenEvent;
  given.useTicket = async (ticket) => {
    given.ticketId = await given.gala.addTicket(ticket);
  };
  given.useEvent = async ({ duplicatePolicy, mode } = {}, ticket = null) => {
    given.gala = await createFixture(given.db, duplicatePolicy, mode);
    if (ticket) await given.useTicket(ticket);
    return given.gala;
  };
  const withSettings = withDatabase
    .extend('event', { scope: 'file' }, {} as EventSettings)
    .extend('ticket', { scope: 'file' }, null as TicketOfTest);
  const createGala = ({ event, ticket }: { event: EventSettings; ticket: TicketOfTest }) =>
    given.useEvent(event, ticket);
  const test = withSettings.extend('gala', scopeOf(sharesEvent), createGala);
  return { test, given };
}

/** Returns how long a fixture lives: as long as the file, or one test. To the compiler, both are the same. */
export const scopeOf = (isOfFile: boolean) =>
  ({ scope: isOfFile ? 'file' : 'test', auto: true }) as { scope: 'file'; auto: true };
