import type { Database } from '@floodgate/database';
import { reservationsOf, type Registrations } from '@floodgate/registrations';
import { CompiledQuery } from 'kysely';

/** One validated request for a seat, as the parameters of the statements below. */
export type SeatRequest = readonly [
  ticketId: number,
  eventId: number,
  partnerId: number,
  passCode: number,
  ...attendee: (string | null)[],
];

export type SeatOutcome =
  { kind: 'registered'; serial: number } | { kind: 'no-such-ticket' | 'not-on-sale' | 'sold-out' };

/**
 * Floodgate's HTTP side reads this for every valid request. Peers have no idempotency keys and do not refuse
 * duplicates, which makes them slightly cheaper.
 */
export function registerWith(reserve: (seat: SeatRequest) => Promise<SeatOutcome>): Registrations['submit'] {
  return async (_principal, submission) => {
    const [seat] = reservationsOf([submission]);
    const { ticketId, eventId, partnerId, passCode, fullName, emailAddress, phoneNumber } = seat!;
    const { gender, tableOrSeat, extraData1, extraData2 } = seat!;
    const outcome = await reserve([
      ticketId,
      eventId,
      partnerId,
      passCode,
      fullName,
      emailAddress,
      phoneNumber,
      gender,
      tableOrSeat,
      extraData1,
      extraData2,
    ]);
    if (outcome.kind !== 'registered') return { kind: outcome.kind, replayed: false };
    return { kind: 'registered', serial: outcome.serial, passCode, replayed: false };
  };
}

// Constant texts: Kysely compiles nothing, and each statement is prepared once per connection.

const ON_SALE = 'active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true)';
const COLUMNS = `ticket_id, event_id, partner_id, pass_code, full_name, email_address, phone_number, gender,
  table_or_seat, extra_data_1, extra_data_2`;
const VALUES = `$1::integer, $2::integer, $3::integer, $4::bigint, $5::text, $6::text, $7::text, $8::text,
  $9::text, $10::text, $11::text`;

const LOCK_TICKET = `
  select taken < capacity as has_seats, ${ON_SALE} as on_sale
  from tickets where id = $1 and event_id = $2 for update`;
const INSERT = `insert into peer_registrations (${COLUMNS}) values (${VALUES}) returning serial`;
const COUNT_SEAT = 'update tickets set taken = taken + 1 where id = $1';

/** The usual transaction: lock the ticket, check, insert, count. */
export function reserveInTransaction(db: Database, seat: SeatRequest): Promise<SeatOutcome> {
  return db.transaction().execute(async (transaction) => {
    const [ticketId, eventId] = seat;
    const [ticket] = await run<TicketState>(transaction, LOCK_TICKET, [ticketId, eventId]);
    if (!ticket?.on_sale || !ticket.has_seats) return refusal(ticket);
    const [registered] = await run<{ serial: number }>(transaction, INSERT, seat);
    await run(transaction, COUNT_SEAT, [ticketId]);
    return { kind: 'registered', serial: registered!.serial };
  });
}

const RESERVE = `
  with seat as (
    update tickets set taken = taken + 1
    where id = $1::integer and event_id = $2::integer and taken < capacity and ${ON_SALE}
    returning id
  ),
  registered as (
    insert into peer_registrations (${COLUMNS}) select ${VALUES} from seat returning serial
  )
  select serial from registered`;

const WHY_REFUSED = `
  select taken < capacity as has_seats, ${ON_SALE} as on_sale from tickets where id = $1 and event_id = $2`;

/** One statement for the seat and its registration. A second one only without a seat, for the reason. */
export async function reserveInOneStatement(db: Database, seat: SeatRequest): Promise<SeatOutcome> {
  const [registered] = await run<{ serial: number }>(db, RESERVE, seat);
  if (registered) return { kind: 'registered', serial: registered.serial };
  const [ticketId, eventId] = seat;
  const [ticket] = await run<TicketState>(db, WHY_REFUSED, [ticketId, eventId]);
  return refusal(ticket);
}

interface TicketState {
  has_seats: boolean;
  on_sale: boolean;
}

function refusal(ticket: TicketState | undefined): SeatOutcome {
  if (!ticket) return { kind: 'no-such-ticket' };
  return { kind: ticket.on_sale ? 'sold-out' : 'not-on-sale' };
}

async function run<Row>(db: Database, text: string, parameters: readonly unknown[]): Promise<Row[]> {
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
  return rows;
}
