import type { Event } from '@floodgate/events';
import { joinPrices, priceAt } from '@floodgate/registrations/price';
import { sql } from 'kysely';
import type { Window } from './windows.ts';

/**
 * The sold seats of an event whose registrations are in a window, as a table with one row per seat, also if it
 * is cancelled now:
 *
 *   serial                 of the registration that has the seat, or had it last
 *   seat                   serial of the first registration of the seat
 *   ticket_id, partner_id
 *   sold_at                when the seat was reserved for its first attendee, by the clock of the shard's server
 *   cancelled_at           null: it is not cancelled
 *   price                  at sold_at; null: it is missing, which reconcile reports
 *
 * A changed attendee is no new sale. A hold is sold once it is confirmed; one that is open or ended is not.
 */
export const soldSeats = ({ id, shardId }: Event, { after, upTo }: Window) => sql`
  select r.serial, coalesce(r.seat, r.serial) as seat, r.ticket_id, r.partner_id,
    coalesce(f.reserved_at, r.reserved_at) as sold_at, r.cancelled_at,
    ${priceAt(sql`coalesce(f.reserved_at, r.reserved_at)`)} as price
  from registrations r
  left join registrations f on f.shard_id = ${shardId} and f.serial = r.seat
  ${joinPrices({ shardId, eventId: id })}
  where r.shard_id = ${shardId} and r.serial > ${after} and r.serial <= ${upTo}
    and r.event_id = ${id} and r.replaced_by is null
    and coalesce(r.held_until = 'infinity', true)`;

/** A part of time. Null: without a bound. */
export interface Period {
  from: Date | null;
  until: Date | null;
}

/** The condition that an instant, an SQL expression, is in a period. Null is in none. */
export const isIn = (instant: string, { from, until }: Period) => sql`(
  ${sql.raw(instant)} >= coalesce(${from}::timestamptz, '-infinity')
  and ${sql.raw(instant)} < coalesce(${until}::timestamptz, 'infinity')
)`;
