import { sql } from 'kysely';
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
  'created_at as createdAt',
] as const;

/** Languages that attendees are written to in. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

/** What attendees are told of an event, and how. Null: it is not known. */
export interface EventDetails {
  startsAt: Date | null;
  endsAt: Date | null;
  venue: string | null;
  /** Of the IANA's database: the times above are told in it. */
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

/** Creates an event with a fresh reference. Returns also whether pass references of another event begin as its own do. */
export async function createEvent(
  db: Database,
  {
    name,
    mode = 'live',
    passPrefix,
    duplicatePolicy,
    duplicateScope = 'event',
    cancelUntil = null,
  }: NewEvent,
) {
  const others = db.selectFrom('events').select('id').where('pass_prefix', '=', passPrefix).limit(1);
  const prefixIsShared = (await others.executeTakeFirst()) !== undefined;
  const shardId = await chooseShard(db);
  const event = await db
    .insertInto('events')
    .values({
      name,
      shard_id: shardId,
      mode,
      pass_prefix: passPrefix,
      duplicate_policy: duplicatePolicy,
      duplicate_scope: duplicateScope,
      cancel_until: cancelUntil,
    })
    .returning(EVENT_COLUMNS)
    .executeTakeFirstOrThrow();
  return { ...event, prefixIsShared };
}

/** Changes what is given of an event. Returns it as it was and as it is, undefined where there is none. */
export async function updateEvent(db: Database, eventId: number, settings: Partial<EventSettings>) {
  const before = await db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .where('id', '=', eventId)
    .executeTakeFirst();
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
    })
    .where('id', '=', eventId)
    .returning(EVENT_COLUMNS)
    .executeTakeFirstOrThrow();
  return { before, after };
}

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

/** Keeps an event in its shard until the transaction ends. Waits for whoever is moving it. */
export async function keepInShard(transaction: Database, eventId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${SHARD_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/** Waits until nobody keeps an event in its shard, and for others who move it. */
export async function lockShardOf(transaction: Database, eventId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${SHARD_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/** Returns when an event takes place, as far as that is known. Throws where there is no such event. */
export async function findEventTimes(db: Database, eventId: number) {
  const columns = ['id', 'starts_at as startsAt', 'ends_at as endsAt'] as const;
  const event = db.selectFrom('events').select(columns).where('id', '=', eventId);
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
