import { sql } from 'kysely';
export { CONFIRMATION, EVENT_UPDATED } from './holders.ts';
import type { Database, DuplicatePolicy, DuplicateScope, Mode } from '@floodgate/database';

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

/** The columns that signed documents show to anybody. */
const PUBLIC_COLUMNS = [
  'id',
  'ref',
  'name',
  'starts_at as startsAt',
  'ends_at as endsAt',
  'venue',
  'time_zone as timeZone',
  'revision',
] as const;

/** Languages that attendees are written to in. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

/** What passes and e-mails say about an event. Null: not known. */
export interface EventDetails {
  startsAt: Date | null;
  endsAt: Date | null;
  venue: string | null;
  /** An IANA name. E-mails give the times in this zone. */
  timeZone: string | null;
  language: Language;
  /** Where attendees' answers go. */
  replyTo: string | null;
}

/** What an operator sets on an event, besides. */
export interface EventSettings extends EventDetails {
  /** Until when partners may cancel registrations. Null: at any time. */
  cancelUntil: Date | null;
}

type NewEvent = {
  name: string;
  /** Live, where nothing is said. It stays. */
  mode?: Mode;
  passPrefix: string;
  duplicatePolicy: DuplicatePolicy;
  duplicateScope?: DuplicateScope;
} & Partial<Pick<EventSettings, 'cancelUntil'>>;

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

/** Changes the given settings of an event. Returns it before and after; undefined if there is no such event. */
export async function updateEvent(db: Database, eventId: number, settings: Partial<EventSettings>) {
  const before = await findWholeEvent(db, eventId);
  if (!before) return undefined;
  const { cancelUntil, startsAt, endsAt, venue, timeZone, language, replyTo } = settings;
  const after = await db
    .updateTable('events')
    // What is not given is left out.
    .set({
      cancel_until: cancelUntil,
      starts_at: startsAt,
      ends_at: endsAt,
      venue,
      time_zone: timeZone,
      language,
      reply_to: replyTo,
      revision: sql<number>`revision + 1`,
    })
    .where('id', '=', eventId)
    .returning(EVENT_COLUMNS)
    .executeTakeFirstOrThrow();
  return { before, after };
}

/** Returns all columns of an event, or undefined if there is no such event. */
export const findWholeEvent = (db: Database, eventId: number) =>
  db.selectFrom('events').select(EVENT_COLUMNS).where('id', '=', eventId).executeTakeFirst();

/** Returns a shard with the fewest events: by chance where several have, as others may be choosing now. */
async function chooseShard(db: Database): Promise<number> {
  const { id } = await db
    .selectFrom('shards')
    .leftJoin('events', 'events.shard_id', 'shards.id')
    .select('shards.id')
    .groupBy('shards.id')
    .orderBy(({ fn }) => fn.count('events.id'))
    .orderBy(sql`random()`)
    .executeTakeFirstOrThrow();
  return id;
}

/** Returns the shard in which an event lives, or undefined where there is no such event. */
export async function findShard(db: Database, eventId: number): Promise<number | undefined> {
  const event = db.selectFrom('events').select('shard_id').where('id', '=', eventId);
  return (await event.executeTakeFirst())?.shard_id;
}

// Spells "evnt". On a cluster a lock of the event's row would need every server, and keep nobody from adding tickets.
const SHARD_LOCK = 0x65766e74;

/** Keeps an event in its shard until the transaction ends. Waits for a move that is running. */
export async function keepInShard(transaction: Database, eventId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${SHARD_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/** Waits until no transaction keeps an event in its shard, and for other moves. */
export async function lockShardOf(transaction: Database, eventId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SHARD_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/** Returns what anybody may know of an event. Throws if there is no such event. */
export async function findEvent(db: Database, eventId: number) {
  const event = db.selectFrom('events').select(PUBLIC_COLUMNS).where('id', '=', eventId);
  return event.executeTakeFirstOrThrow();
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
