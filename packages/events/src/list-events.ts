import type { Database } from '@floodgate/database';
import { EVENT_COLUMNS, type Event } from './event.ts';

/** Returns all events, oldest first. */
export async function listEvents(db: Database): Promise<Event[]> {
  return db.selectFrom('events').select(EVENT_COLUMNS).orderBy('id').execute();
}
