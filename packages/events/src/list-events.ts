import type { Database } from '@floodgate/database';
import { EVENT_COLUMNS } from './event.ts';

/** Returns all events, oldest first. */
export async function listEvents(db: Database) {
  return db.selectFrom('events').select(EVENT_COLUMNS).orderBy('id').execute();
}
