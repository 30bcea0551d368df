import { sql } from 'kysely';
import {
  inCamelCase,
  type Database,
  type DuplicatePolicy,
  type DuplicateScope,
  type Language,
  type Mode,
} from '@floodgate/database';
import { Failure, NotFound } from '@floodgate/service/failure';

/** The kind of delivery that sends a pass to an attendee. Its subject is the registration's serial. */
export const CONFIRMATION = 'confirmation';
/** The kind of delivery that notifies pass holders of a change of the event. */
export const EVENT_UPDATED = 'event-updated';
/**
 * The kind of delivery that notifies a contact of an offer. Its subject is the serial of the entry of a
 * waiting list.
 */
export const WAITING_OFFER = 'waiting-offer';
/** The kind of delivery that notifies an attendee that the registration was cancelled. */
export const CANCELLATION = 'cancellation';
/** The kinds that an operator enables and disables for an event. */
export const EVENT_KINDS = [CONFIRMATION, EVENT_UPDATED, WAITING_OFFER, CANCELLATION] as const;

/** The columns of an event. Not *, for the same reason as for tickets. */
const COLUMNS = [
  'id',
  'ref',
  'shardId',
  'name',
  'passPrefix',
  'mode',
  'duplicatePolicy',
  'duplicateScope',
  'cancelUntil',
  'startsAt',
  'endsAt',
  'venue',
  'timeZone',
  'language',
  'replyTo',
  'revision',
  'createdAt',
  'archivedAt',
  'stoppedTickets',
  'currency',
  'calledOffAt',
  'mailOperatorCancels',
  'mailPartnerCancels',
] as const;

/** An event. */
export interface Event extends EventSettings {
  id: number;
  /** The reference by which partners name it. */
  ref: string;
  shardId: number;
  passPrefix: string;
  /** Only keys of the same mode open it. */
  mode: Mode;
  duplicatePolicy: DuplicatePolicy;
  duplicateScope: DuplicateScope;
  /** Rises with every change of the event. */
  revision: number;
  createdAt: Date;
  archivedAt: Date | null;
  /** The tickets that an operator took off sale together. */
  stoppedTickets: number[] | null;
  /** When an operator called it off. Null: it takes place. */
  calledOffAt: Date | null;
}

/** The settings of an event. Null: not known, or no limit. */
export interface EventSettings {
  name: string;
  /** Deadline for cancellations by partners. */
  cancelUntil: Date | null;
  startsAt: Date | null;
  endsAt: Date | null;
  venue: string | null;
  /** A name of the IANA time zone database. */
  timeZone: string | null;
  language: Language;
  /** Address for attendees' replies. */
  replyTo: string | null;
  /** ISO 4217. */
  currency: string | null;
  /** Whether attendees get an e-mail if an operator cancels their registration. */
  mailOperatorCancels: boolean;
  /** Whether attendees get an e-mail if the partner cancels their registration. */
  mailPartnerCancels: boolean;
}

/** Returns the settings of an event. */
export function settingsOf(event: Event): EventSettings {
  const { name, cancelUntil, startsAt, endsAt, venue, timeZone, language, replyTo, currency } = event;
  const { mailOperatorCancels, mailPartnerCancels } = event;
  const details = { name, cancelUntil, startsAt, endsAt, venue, timeZone, language, replyTo, currency };
  return { ...details, mailOperatorCancels, mailPartnerCancels };
}

type NewEvent = Pick<Event, 'name' | 'passPrefix' | 'duplicatePolicy'> &
  Partial<Pick<Event, 'mode' | 'duplicateScope' | 'cancelUntil' | 'currency'>>;

/** Creates an event with a new reference. Also returns whether another event has the same prefix. */
export async function createEvent(
  db: Database,
  settings: NewEvent,
): Promise<Event & { prefixIsShared: boolean }> {
  const others = db.selectFrom('events').select('id').where('pass_prefix', '=', settings.passPrefix).limit(1);
  const prefixIsShared = (await others.execute()).length > 0;
  // Random among the shards with the fewest events: other transactions may choose a shard at the same time.
  const shards = countEvents(db)
    .orderBy('events')
    .orderBy(sql`random()`)
    .limit(1);
  const { id: shardId } = await shards.executeTakeFirstOrThrow();
  const event = await inCamelCase(db)
    .insertInto('events')
    // Absent values get the default of their column.
    .values({ ...settings, shardId })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return { ...event, prefixIsShared };
}

/**
 * Changes the given settings of an event, in a transaction. Returns it before and after. Throws Failure if
 * there is no such event.
 */
export async function updateEvent(
  db: Database,
  eventId: number,
  settings: Partial<EventSettings>,
): Promise<{ before: Event; after: Event }> {
  await lockEvent(db, eventId);
  const before = await findEvent(db, eventId);
  const after = await inCamelCase(db)
    .updateTable('events')
    // Absent values are left out.
    .set({ ...settings, revision: sql<number>`revision + 1` })
    .where('id', '=', eventId)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  // The revision before may be the first one that is kept.
  for (const revision of [before, after]) await keepRevision(db, revision);
  return { before, after };
}

/** The content of e-mails about an event. */
export type EventPlace = Pick<Event, 'name' | 'startsAt' | 'endsAt' | 'venue' | 'timeZone'>;

/** Keeps the content of e-mails about a revision of an event. */
async function keepRevision(db: Database, event: Event) {
  const { shardId, id: eventId, revision, name, startsAt, endsAt, venue, timeZone } = event;
  await inCamelCase(db)
    .insertInto('eventRevisions')
    .values({ shardId, eventId, revision, name, startsAt, endsAt, venue, timeZone })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Returns the content of e-mails about an event in these revisions, by revision. Revisions that are not known
 * are missing.
 */
export async function findRevisions(
  db: Database,
  { shardId, id: eventId }: Pick<Event, 'shardId' | 'id'>,
  revisions: readonly number[],
): Promise<Map<number, EventPlace>> {
  if (revisions.length === 0) return new Map();
  const rows = await inCamelCase(db)
    .selectFrom('eventRevisions')
    .select(['revision', 'name', 'startsAt', 'endsAt', 'venue', 'timeZone'])
    .where(({ and }) => and({ shardId, eventId }))
    .where('revision', 'in', revisions)
    .execute();
  return new Map(rows.map(({ revision, ...place }) => [revision, place]));
}

/** Returns an event. Throws Failure if there is no such event. */
export const findEvent = (db: Database, eventId: number): Promise<Event> =>
  inCamelCase(db)
    .selectFrom('events')
    .select(COLUMNS)
    .where('id', '=', eventId)
    .executeTakeFirstOrThrow(() => new NotFound('no such event'));

/**
 * Returns the events that are archived, or those that are not, oldest first. `ids`: only those of these that
 * are.
 */
export const listEvents = (db: Database, isArchived = false, ids?: readonly number[]): Promise<Event[]> =>
  inCamelCase(db)
    .selectFrom('events')
    .select(COLUMNS)
    .where('archivedAt', isArchived ? 'is not' : 'is', null)
    .$if(ids !== undefined, (events) => events.where(sql<boolean>`id = any(${ids}::integer[])`))
    .orderBy('id')
    .execute();

/**
 * Archives an event, or restores it, in a transaction. Returns whether it was archived before. Throws Failure
 * if one of its tickets is on sale.
 */
export async function archiveEvent(db: Database, eventId: number, isArchived: boolean) {
  // A ticket that goes on sale keeps its event in its shard, so it waits, or this does.
  await lockEvent(db, eventId);
  const { shardId, archivedAt } = await findEvent(db, eventId);
  const onSale = db
    .selectFrom('tickets')
    .select('id')
    .where(({ and }) => and({ shard_id: shardId, event_id: eventId, active: true }))
    .where(sql<boolean>`coalesce(sale_ends_at > now(), true)`);
  if (isArchived && (await onSale.limit(1).executeTakeFirst()))
    throw new Failure('tickets of this event are on sale; take them off sale first');
  const change = { archived_at: isArchived ? (archivedAt ?? new Date()) : null };
  await db.updateTable('events').set(change).where('id', '=', eventId).execute();
  return archivedAt !== null;
}

/** Marks a locked event as called off. Its revision rises, because calendars and doors have an older one. */
export async function markCalledOff(db: Database, eventId: number) {
  await sql`
    update events set called_off_at = now(), revision = revision + 1
    where id = ${eventId} and called_off_at is null`.execute(db);
}

/**
 * Opens an event to a partner. Returns false if it was open already. Throws a foreign-key error for an
 * unknown partner or event.
 */
export async function grantEvent(db: Database, partnerId: number, eventId: number) {
  const granted = await db
    .insertInto('event_grants')
    .values({ partner_id: partnerId, event_id: eventId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return granted.numInsertedOrUpdatedRows === 1n;
}

/** Closes an event to a partner. Returns false if it was not open. */
export async function revokeEvent(db: Database, partnerId: number, eventId: number) {
  const revoked = await db
    .deleteFrom('event_grants')
    .where(({ and }) => and({ partner_id: partnerId, event_id: eventId }))
    .executeTakeFirst();
  return revoked.numDeletedRows === 1n;
}

const countEvents = (db: Database) =>
  db
    .selectFrom('shards')
    .leftJoin('events', 'events.shard_id', 'shards.id')
    .select(({ fn }) => ['shards.id', fn.count<number>('events.id').as('events')])
    .groupBy('shards.id');

/** Returns all shards, each with its number of events. */
export const listShards = (db: Database) => countEvents(db).orderBy('shards.id').execute();

// Spells "evnt". On a cluster, a lock of the event's row would need every node, and would not prevent new
// tickets.
const SHARD_LOCK = 0x65766e74;

/**
 * Locks an event until the transaction ends: its shard, its settings and whether it is archived. Waits for
 * all who keep it in its shard.
 */
export async function lockEvent(db: Database, eventId: number) {
  await sql`select pg_advisory_xact_lock(${SHARD_LOCK}, ${eventId}::integer)`.execute(db);
}

/**
 * Keeps an event in its shard until the transaction ends, and not archived if it is not. Waits for a running
 * move.
 */
export async function keepInShard(db: Database, eventId: number) {
  await sql`select pg_advisory_xact_lock_shared(${SHARD_LOCK}, ${eventId}::integer)`.execute(db);
}

/** Tables whose rows belong to an event and stay in its shard. */
type TableOfEvent = 'journal_segments' | 'journal_consumers' | 'gates' | 'registrations' | 'waiting_entries';

/** Returns whether a table has rows of an event in a shard. */
async function hasRows(db: Database, table: TableOfEvent, shardId: number, eventId: number) {
  const { rows } = await sql`
    select from ${sql.table(table)} where shard_id = ${shardId} and event_id = ${eventId} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/**
 * Returns whether a seat of an event was ever taken. A registration that was cancelled takes none, and is not
 * in the journal before its batch is finalized, so the registrations are looked through last.
 */
export async function hasSales(db: Database, shardId: number, eventId: number) {
  const { rows } = await sql`
    select from tickets where shard_id = ${shardId} and event_id = ${eventId} and taken > 0 limit 1`.execute(
    db,
  );
  if (rows.length > 0 || (await hasRows(db, 'journal_segments', shardId, eventId))) return true;
  return hasRows(db, 'registrations', shardId, eventId);
}

/**
 * Moves an event with its tickets to another shard. Returns the old shard. Throws Failure if there is no such
 * event or shard, or if the event has rows that cannot move: registrations (with their batches and changes),
 * allocations, entries of waiting lists, journal entries, consumers or gates. An API can read its tickets
 * from the old shard for another 2 s.
 */
export async function moveEvent(db: Database, eventId: number, shardId: number) {
  await lockEvent(db, eventId);
  const { shardId: from } = await findEvent(db, eventId);
  if (from === shardId) return from;
  const shard = db.selectFrom('shards').select('id').where('id', '=', shardId);
  if (!(await shard.executeTakeFirst())) throw new NotFound('no such shard');
  const ofEvent = sql`where shard_id = ${from} and event_id = ${eventId}`;
  const { rows: tickets } = await sql<{ row: { id: number; allocated: boolean } }>`
    select to_jsonb(tickets) as row from tickets ${ofEvent} for update`.execute(db);
  const isAny = (table: TableOfEvent) => hasRows(db, table, from, eventId);
  if (await hasSales(db, from, eventId))
    throw new Failure(
      'the event has registrations, or one of its tickets was sold out, so it stays in its shard',
    );
  if (tickets.some(({ row }) => row.allocated))
    throw new Failure('the event has allocations, so it stays in its shard');
  if (await isAny('journal_consumers'))
    throw new Failure('the event has webhooks or e-mails, so it stays in its shard');
  if (await isAny('waiting_entries'))
    throw new Failure('the event has waiting lists with entries, so it stays in its shard');
  if (await isAny('gates')) throw new Failure('the event has gates, so it stays in its shard');
  await sql`
    delete from ticket_prices
    where shard_id = ${from} and ticket_id = any(${tickets.map(({ row }) => row.id)}::integer[])`.execute(db);
  // No e-mail has told anybody of them.
  await sql`delete from event_revisions ${ofEvent}`.execute(db);
  await sql`delete from tickets ${ofEvent}`.execute(db);
  await db.updateTable('events').set({ shard_id: shardId }).where('id', '=', eventId).execute();
  const moved = JSON.stringify(tickets.map(({ row }) => ({ ...row, shard_id: shardId })));
  await sql`
    insert into tickets select * from jsonb_populate_recordset(null::tickets, ${moved}::jsonb)`.execute(db);
  // Only the present prices: nothing was sold for the earlier ones, and the new shard may have another clock.
  await sql`
    insert into ticket_prices (shard_id, ticket_id, valid_from, price)
    select shard_id, id, '-infinity', price
    from jsonb_populate_recordset(null::tickets, ${moved}::jsonb)`.execute(db);
  return from;
}
