import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { joinPrices, priceOf } from '../price/price-of.ts';
import { ALL_SERIALS, lastOfServers, partsByServer, type SerialRange } from '../serial-ranges.ts';
import {
  ATTENDEE,
  findRegistrations,
  passReferenceOf,
  type RegistrationRow,
} from '../status/find-registrations.ts';
import {
  conditionOf,
  isAdmittedIn,
  mailStateIn,
  stateIn,
  type MAIL_STATES,
  type RegistrationFilter,
} from './filter.ts';

/** Registrations of any event that one statement reads at most: there is no index by event. */
const WINDOW = 50_000;
/** Windows that one page reads at most. A rare match does not make a page slow. */
const WINDOWS_PER_PAGE = 10;

/** Which of the matches to read. */
interface Selection {
  /** Those with these serials. */
  ranges: readonly SerialRange[];
  /** Without those that are cancelled. */
  onlyLive: boolean;
}

const EVERYTHING = [ALL_SERIALS];
const ALL: Selection = { ranges: EVERYTHING, onlyLive: false };

/** Yields parts of ranges of a shard's serials, in order, each with at most WINDOW registrations of any event. */
async function* windowsOf(db: Database, shardId: number, ranges: readonly SerialRange[]) {
  for (const { after, upTo } of ranges)
    for (let start = after; start < upTo;) {
      const { rows } = await sql<{ end: number | null }>`
        select max(serial) as end from (
          select serial from registrations
          where shard_id = ${shardId} and serial > ${start} and serial <= ${upTo} order by serial limit ${WINDOW}
        ) next`.execute(db);
      const { end } = rows[0]!;
      if (end === null) break;
      yield { after: start, upTo: end };
      start = end;
    }
}

const matchesIn = (
  shardId: number,
  filter: RegistrationFilter,
  { after, upTo }: SerialRange,
  onlyLive = false,
  join = sql``,
) => sql`
  registrations r ${join} where r.shard_id = ${shardId} and r.serial > ${after} and r.serial <= ${upTo}
    and ${conditionOf(filter, shardId)} ${onlyLive ? sql`and ${stateIn(shardId)} <> 'cancelled'` : sql``}`;

/** Returns how many registrations match, and the highest serial of them on each server. */
export async function countMatches(
  db: Database,
  shardId: number,
  filter: RegistrationFilter,
  selection: Partial<Selection> = {},
) {
  const { ranges, onlyLive } = { ...ALL, ...selection };
  let count = 0;
  const lasts: number[] = [];
  for await (const window of windowsOf(db, shardId, ranges))
    for (const part of partsByServer(window)) {
      const { rows } = await sql<{ count: number; last: number | null }>`
        select count(*) as count, max(r.serial) as last
        from ${matchesIn(shardId, filter, part, onlyLive)}`.execute(db);
      count += rows[0]!.count;
      if (rows[0]!.last !== null) lasts.push(rows[0]!.last);
    }
  return { count, lastSerials: lastOfServers(lasts) };
}

/** Returns the serials of the registrations that match, in order. */
export async function serialsOfMatches(
  db: Database,
  shardId: number,
  filter: RegistrationFilter,
  selection: Partial<Selection> = {},
) {
  const { ranges, onlyLive } = { ...ALL, ...selection };
  let serials: number[] = [];
  for await (const window of windowsOf(db, shardId, ranges)) {
    const { rows } = await sql<{ serial: number }>`
      select r.serial from ${matchesIn(shardId, filter, window, onlyLive)} order by r.serial`.execute(db);
    serials = serials.concat(rows.map(({ serial }) => serial));
  }
  return serials;
}

/** Seats of a ticket that a partner has sold, and those that it holds. */
export interface PartnerSeats {
  partnerId: number;
  ticketId: number;
  sold: number;
  held: number;
  /** The prices of the sold seats, each the one that was valid when it was reserved. */
  amount: number;
}

/** A row of `seatsOfEvent`: with whole cents, whose sum is exact. */
type SeatSums = Omit<PartnerSeats, 'amount'> & { cents: number };

/** Returns the seats of an event by partner and ticket, without those that are cancelled. */
export async function seatsOfEvent(
  db: Database,
  shardId: number,
  eventId: number,
  ranges: readonly SerialRange[] = EVERYTHING,
) {
  const sums = new Map<string, SeatSums>();
  const event = { shardId, eventId };
  for await (const window of windowsOf(db, shardId, ranges)) {
    const { rows } = await sql<SeatSums>`
      select r.partner_id as "partnerId", r.ticket_id as "ticketId",
        count(*) filter (where r.held_until is null or r.held_until = 'infinity') as sold,
        count(*) filter (where r.held_until < 'infinity') as held,
        (100 * coalesce(
          sum(${priceOf(event)}) filter (where r.held_until is null or r.held_until = 'infinity'), 0
        ))::bigint as cents
      from ${matchesIn(shardId, { eventId }, window, true, joinPrices(event))}
      group by r.partner_id, r.ticket_id`.execute(db);
    for (const row of rows) {
      const { sold = 0, held = 0, cents = 0 } = sums.get(`${row.partnerId} ${row.ticketId}`) ?? {};
      const sum = { ...row, sold: row.sold + sold, held: row.held + held, cents: row.cents + cents };
      sums.set(`${row.partnerId} ${row.ticketId}`, sum);
    }
  }
  return [...sums.values()]
    .map(({ cents, ...seats }): PartnerSeats => ({ ...seats, amount: cents / 100 }))
    .toSorted((one, other) => one.partnerId - other.partnerId || one.ticketId - other.ticketId);
}

/** The columns of a match, apart from those that every registration shows. */
interface Facts {
  serial: number;
  partnerId: number;
  fullName: string | null;
  emailAddress: string | null;
  phoneNumber: string | null;
  mail: (typeof MAIL_STATES)[number];
  admitted: boolean;
}

/**
 * Returns the next registrations that match, in the order of their sale, with their attendees. A page can be
 * short or empty although there is more: continue from the cursor.
 */
export async function findMatches(
  db: Database,
  shardId: number,
  filter: RegistrationFilter,
  { after, limit, onlyLive = false }: { after: number; limit: number; onlyLive?: boolean },
) {
  const { eventId } = filter;
  let found: Facts[] = [];
  let cursor = after;
  let windows = 0;
  let more = false;
  for await (const window of windowsOf(db, shardId, [{ ...ALL_SERIALS, after }])) {
    const { rows } = await sql<Facts>`
      select r.serial, r.partner_id as "partnerId", ${ATTENDEE}, ${mailStateIn(shardId, eventId)} as mail,
        ${isAdmittedIn(shardId)} as admitted
      from ${matchesIn(shardId, filter, window, onlyLive)}
      order by r.serial limit ${limit - found.length}`.execute(db);
    found = found.concat(rows);
    more = found.length === limit || ++windows === WINDOWS_PER_PAGE;
    cursor = found.length === limit ? found.at(-1)!.serial : window.upTo;
    if (more) break;
  }
  const rows = await findRegistrations(
    db,
    found.map((one) => ({ ...one, shardId, eventId })),
  );
  const registrations = found.flatMap((facts, index) => (rows[index] ? [describe(rows[index], facts)] : []));
  return { registrations, cursor, more };
}

const describe = (
  row: RegistrationRow,
  { partnerId, fullName, emailAddress, phoneNumber, mail, admitted }: Facts,
) => ({
  passReference: passReferenceOf(row),
  state: row.state,
  eventId: row.eventId,
  partnerId,
  ticketId: row.ticketId,
  ticketTitle: row.ticketTitle,
  reservedAt: row.reservedAt,
  cancelledAt: row.cancelledAt,
  partnerReference: row.partnerReference,
  fullName,
  emailAddress,
  phoneNumber,
  mail,
  admitted,
});
