import type { Database, DuplicatePolicy } from '@floodgate/database';
import { EVENT_COLUMNS, type Event } from './event.ts';

/** Creates an event with a fresh reference. The pass prefix is 2 to 8 of A–Z and 0–9, starting with a letter. */
export async function createEvent(
  db: Database,
  event: { name: string; passPrefix: string; duplicatePolicy: DuplicatePolicy },
): Promise<Event> {
  return db
    .insertInto('events')
    .values({ name: event.name, pass_prefix: event.passPrefix, duplicate_policy: event.duplicatePolicy })
    .returning(EVENT_COLUMNS)
    .executeTakeFirstOrThrow();
}
