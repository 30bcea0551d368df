import { sql } from 'kysely';
import { HOUSE_PARTNER_ID, inCamelCase, type Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { lockTicket, type Ticket } from './tickets.ts';

/** The seats of a ticket that only one partner may sell, and how many it may sell at most. */
export interface Allocation {
  ticketId: number;
  partnerId: number;
  /** Seats that only this partner may sell. */
  reserved: number;
  /** How many seats it may sell; null: there is no limit. */
  cap: number | null;
  /** When others may sell what is reserved; null: never. */
  releasesAt: Date | null;
  /** Its seats that are not cancelled. */
  taken: number;
  /** Reserved seats that are left, and not released yet. */
  unsold: number;
}
type Settings = Pick<Allocation, 'reserved' | 'cap' | 'releasesAt'>;

const UNSOLD = sql<number>`case
  when coalesce(releases_at > now(), true) then greatest(reserved - taken, 0) else 0
end`;

/** Returns the allocations of tickets of a shard. */
export const listAllocations = (
  db: Database,
  shardId: number,
  ticketIds: readonly number[],
): Promise<Allocation[]> =>
  inCamelCase(db)
    .selectFrom('allocations')
    .select(['ticketId', 'partnerId', 'reserved', 'cap', 'releasesAt', 'taken'])
    .select(UNSOLD.as('unsold'))
    .where('shardId', '=', shardId)
    .where('ticketId', 'in', ticketIds)
    .orderBy('ticketId')
    .orderBy('partnerId')
    .execute();

// Otherwise a free seat could be one partner's and somebody else's who waits.
export const LIST_OR_ALLOCATIONS = 'a ticket has either allocations or a waiting list';

/**
 * Sets the allocation of a partner, or removes it if it reserves nothing and has no cap. Returns the
 * allocations of the ticket before and after. Throws Failure if there is no such ticket, its event is not
 * open to the partner, or too few seats are left.
 */
export async function allocate(db: Database, ticketId: number, partnerId: number, settings: Settings) {
  const ticket = await lockTicket(db, ticketId);
  const { shardId, eventId, offerHours } = ticket;
  const key = { shardId, ticketId, partnerId };
  const isSet = settings.reserved > 0 || settings.cap !== null;
  if (isSet && offerHours !== null) throw new Failure(LIST_OR_ALLOCATIONS);
  if (isSet && !(await isOpenTo(db, partnerId, eventId)))
    throw new Failure(`event ${eventId} is not open to partner ${partnerId}`);
  const before = await listAllocations(db, shardId, [ticketId]);
  const tables = inCamelCase(db);
  await tables
    .deleteFrom('allocations')
    .where((where) => where.and(key))
    .execute();
  if (isSet)
    await tables
      .insertInto('allocations')
      .values({ ...key, ...settings, taken: await countTaken(db, shardId, ticketId, partnerId) })
      .execute();
  const after = await listAllocations(db, shardId, [ticketId]);
  assertEnough(ticket, after);
  await tables
    .updateTable('tickets')
    .set({ allocated: after.length > 0 })
    .where((where) => where.and({ shardId, id: ticketId }))
    .execute();
  return { eventId, before, after };
}

/** Every event is open to the house partner. */
async function isOpenTo(db: Database, partnerId: number, eventId: number) {
  if (partnerId === HOUSE_PARTNER_ID) return true;
  const grant = db.selectFrom('event_grants').select('event_id').where('partner_id', '=', partnerId);
  return (await grant.where('event_id', '=', eventId).executeTakeFirst()) !== undefined;
}

async function countTaken(db: Database, shard: number, ticket: number, partner: number) {
  const { rows } = await sql<{ taken: number }>`
    select count(*) as taken from registrations
    where shard_id = ${shard} and ticket_id = ${ticket} and partner_id = ${partner} and cancelled_at is null
  `.execute(db);
  return rows[0]!.taken;
}

/** Throws Failure if a ticket cannot have so few seats: more are taken, or reserved for partners. */
export async function assertRoom(
  db: Database,
  shardId: number,
  { id, taken, allocated, ...ticket }: Ticket,
  capacity: number,
) {
  if (capacity >= ticket.capacity) return;
  const reserved = allocated ? sumUnsold(await listAllocations(db, shardId, [id])) : 0;
  if (capacity >= taken + reserved) return;
  const why =
    reserved === 0
      ? ', the number of seats that are taken already'
      : `: ${taken} seats are taken, and ${reserved} more are reserved`;
  throw new Failure(`the capacity cannot be less than ${taken + reserved}${why}`);
}

/** Throws Failure if a ticket has fewer seats left than are reserved. */
function assertEnough({ capacity, taken }: Ticket, allocations: readonly Allocation[]) {
  const reserved = sumUnsold(allocations);
  if (capacity - taken < reserved)
    throw new Failure(`${reserved} seats would be reserved, but only ${capacity - taken} are left`);
}

/** Returns the ticket with the seats that a partner cannot get counted as taken. */
export function asSeenBy(partnerId: number, ticket: Ticket, allocations: readonly Allocation[]) {
  if (ticket.waiting > 0) return { ...ticket, taken: ticket.capacity };
  const ofTicket = allocations.filter(({ ticketId }) => ticketId === ticket.id);
  const allocation = ofTicket.find((candidate) => candidate.partnerId === partnerId);
  const free = ticket.capacity - ticket.taken - sumUnsold(ofTicket) + (allocation?.unsold ?? 0);
  const capLeft = allocation?.cap == null ? free : allocation.cap - allocation.taken;
  const left = Math.max(0, Math.min(free, capLeft));
  return { ...ticket, taken: ticket.capacity - left };
}

const sumUnsold = (allocations: readonly Allocation[]) =>
  allocations.reduce((sum, { unsold }) => sum + unsold, 0);
