import type { Database, DuplicatePolicy } from '@floodgate/database';

export interface Event {
  id: number;
  ref: string;
  name: string;
  passPrefix: string;
  duplicatePolicy: DuplicatePolicy;
  createdAt: Date;
}

const EVENT_COLUMNS = [
  'id',
  'ref',
  'name',
  'pass_prefix as passPrefix',
  'duplicate_policy as duplicatePolicy',
  'created_at as createdAt',
] as const;

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

export async function listEvents(db: Database): Promise<Event[]> {
  return db.selectFrom('events').select(EVENT_COLUMNS).orderBy('id').execute();
}

/** Opens an event to a partner. Granting twice is no error; an unknown partner or event is a foreign-key error. */
export async function grantEvent(db: Database, partnerId: number, eventId: number): Promise<void> {
  await db
    .insertInto('event_grants')
    .values({ partner_id: partnerId, event_id: eventId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
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
