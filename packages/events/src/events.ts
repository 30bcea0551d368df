import type { Database, DuplicatePolicy } from '@floodgate/database';

/** The columns of an event, under the names that it has here. */
const EVENT_COLUMNS = [
  'id',
  'ref',
  'name',
  'pass_prefix as passPrefix',
  'duplicate_policy as duplicatePolicy',
  'created_at as createdAt',
] as const;

type NewEvent = { name: string; passPrefix: string; duplicatePolicy: DuplicatePolicy };

/** Creates an event with a fresh reference. Returns also whether pass references of another event begin as its own do. */
export async function createEvent(db: Database, { name, passPrefix, duplicatePolicy }: NewEvent) {
  return db
    .insertInto('events')
    .values({ name, pass_prefix: passPrefix, duplicate_policy: duplicatePolicy })
    .returning(EVENT_COLUMNS)
    .returning(({ exists, selectFrom }) => {
      const others = selectFrom('events as other').where('pass_prefix', '=', passPrefix);
      // The statement does not see its own row.
      return exists(others.select('id')).as('prefixIsShared');
    })
    .executeTakeFirstOrThrow();
}

/** Returns all events, oldest first. */
export async function listEvents(db: Database) {
  return db.selectFrom('events').select(EVENT_COLUMNS).orderBy('id').execute();
}

/** Opens an event to a partner. False where it was open already; an unknown partner or event is a foreign-key error. */
export async function grantEvent(db: Database, partnerId: number, eventId: number): Promise<boolean> {
  const granted = await db
    .insertInto('event_grants')
    .values({ partner_id: partnerId, event_id: eventId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('event_id')
    .executeTakeFirst();
  return granted !== undefined;
}

/** Closes an event to a partner. False where it was not open. */
export async function revokeEvent(db: Database, partnerId: number, eventId: number): Promise<boolean> {
  const revoked = await db
    .deleteFrom('event_grants')
    .where('partner_id', '=', partnerId)
    .where('event_id', '=', eventId)
    .returning('event_id')
    .executeTakeFirst();
  return revoked !== undefined;
}
