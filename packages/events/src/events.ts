import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { chooseShard } from './shards.ts';

export { findShard, keepInShard } from './shards.ts';

/** The kind of delivery that brings an attendee their pass. Its subject is the registration's serial. */
export const CONFIRMATION = 'confirmation';
/** The kind of delivery that tells holders of a pass that the event has changed. */
export const EVENT_UPDATED = 'event-updated';

/** The columns of an event, under the names that it has here. */
const EVENT_COLUMNS = [
  'id',
  'ref',
  'shard_id as shardId',
  'name',
  'pass_prefix as passPrefix',
  'mode',
  'duplicate_policy as duplicatePolicy',
  'duplicate_scope as duplicateScope',
  'cancel_until as cancelUntil',
  'starts_at as startsAt',
  'ends_at as endsAt',
  'venue',
  'time_zone as timeZone',
  'language',
  'reply_to as replyTo',
  'revision',
  'created_at as createdAt',
] as const;

/** Languages that attendees are written to in. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

export type Event = Awaited<ReturnType<typeof findEvent>>;

/** Returns what an operator sets on an event. Null: not known, or no limit. */
export function settingsOf(event: Event) {
  const { cancelUntil, startsAt, endsAt, venue, timeZone, language, replyTo } = event;
  return { cancelUntil, startsAt, endsAt, venue, timeZone, language, replyTo };
}

type NewEvent = Pick<Event, 'name' | 'passPrefix' | 'duplicatePolicy'> &
  Partial<Pick<Event, 'mode' | 'duplicateScope' | 'cancelUntil'>>;

/** Creates an event with a fresh reference. Returns also whether another event has the same prefix of pass references. */
export async function createEvent(db: Database, given: NewEvent) {
  const others = db.selectFrom('events').select('id').where('pass_prefix', '=', given.passPrefix).limit(1);
  const prefixIsShared = (await others.executeTakeFirst()) !== undefined;
  const event = await db
    .insertInto('events')
    // A value that is not given has the default of its column.
    .values({
      name: given.name,
      shard_id: await chooseShard(db),
      mode: given.mode,
      pass_prefix: given.passPrefix,
      duplicate_policy: given.duplicatePolicy,
      duplicate_scope: given.duplicateScope,
      cancel_until: given.cancelUntil,
    })
    .returning(EVENT_COLUMNS)
    .executeTakeFirstOrThrow();
  return { ...event, prefixIsShared };
}

/** Changes the given settings of an event. Returns it before and after. Throws Failure if there is no such event. */
export async function updateEvent(
  db: Database,
  eventId: number,
  settings: Partial<ReturnType<typeof settingsOf>>,
) {
  const before = await findEvent(db, eventId);
  const { cancelUntil, startsAt, endsAt, timeZone, replyTo, ...others } = settings;
  const after = await db
    .updateTable('events')
    // Absent values are left out.
    .set({
      ...others,
      cancel_until: cancelUntil,
      starts_at: startsAt,
      ends_at: endsAt,
      time_zone: timeZone,
      reply_to: replyTo,
      revision: sql<number>`revision + 1`,
    })
    .where('id', '=', eventId)
    .returning(EVENT_COLUMNS)
    .executeTakeFirstOrThrow();
  return { before, after };
}

/** Returns an event. Throws Failure if there is no such event. */
export const findEvent = (db: Database, eventId: number) =>
  db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .where('id', '=', eventId)
    .executeTakeFirstOrThrow(() => new Failure('no such event'));

/** Returns all events, oldest first. */
export const listEvents = (db: Database) =>
  db.selectFrom('events').select(EVENT_COLUMNS).orderBy('id').execute();

/** Opens an event to a partner. False where it was open already; an unknown partner or event is a foreign-key error. */
export async function grantEvent(db: Database, partnerId: number, eventId: number): Promise<boolean> {
  const granted = await db
    .insertInto('event_grants')
    .values({ partner_id: partnerId, event_id: eventId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return granted.numInsertedOrUpdatedRows === 1n;
}

/** Closes an event to a partner. False where it was not open. */
export async function revokeEvent(db: Database, partnerId: number, eventId: number): Promise<boolean> {
  const revoked = await db
    .deleteFrom('event_grants')
    .where('partner_id', '=', partnerId)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
  return revoked.numDeletedRows === 1n;
}
