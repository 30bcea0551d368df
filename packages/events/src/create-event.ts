import type { Database, DuplicatePolicy } from '@floodgate/database';
import { EVENT_COLUMNS } from './event.ts';

/** Creates an event with a fresh reference. Returns also whether pass references of another event begin as its own do. */
export async function createEvent(
  db: Database,
  event: { name: string; passPrefix: string; duplicatePolicy: DuplicatePolicy },
) {
  return db
    .insertInto('events')
    .values({ name: event.name, pass_prefix: event.passPrefix, duplicate_policy: event.duplicatePolicy })
    .returning(EVENT_COLUMNS)
    .returning(({ exists, selectFrom }) => {
      const others = selectFrom('events as other').where('pass_prefix', '=', event.passPrefix);
      // The statement does not see its own row.
      return exists(others.select('id')).as('prefixIsShared');
    })
    .executeTakeFirstOrThrow();
}
