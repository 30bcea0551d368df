import { sql } from 'kysely';
import { askShards, shardIds, type Database } from '@floodgate/database';

/** One contradiction between rows, as an operator reads it. */
export interface Difference {
  subject: string;
  problem: string;
}

/** The problem of a shard that does not answer. */
export const UNREAD = 'does not answer, so its books are unknown';

/** A batch that became pending before this was forgotten: the relay finalizes a batch much sooner. */
const LONG_AGO = sql`now() - interval '15 minutes'`;

/**
 * Returns the contradictions between the rows of each shard: seats that are taken without a registration,
 * allocations that are broken, held seats that are counted wrongly, waiting lists out of order, tickets in another
 * shard than their event, registrations without a price, references to a wrong or missing row, batches that
 * contradict their registrations or are missing from the journal, and forgotten batches and holds. Reads one
 * snapshot of each shard, so it is exact under load. Changes nothing. A shard that does not answer is reported as
 * well, because nothing is known about it.
 */
export async function reconcile(db: Database) {
  const shards = await shardIds(db);
  const { answers, away } = await askShards(shards, async (shardId) => {
    const { rows } = await differencesOf(shardId).execute(db);
    const place = shards.length > 1 ? `shard ${shardId}: ` : '';
    return rows.map(({ subject, problem }) => ({ subject: place + subject, problem }));
  });
  const unread = away.map((shardId) => ({ subject: `shard ${shardId}`, problem: UNREAD }));
  return [...answers.flat(), ...unread];
}

const differencesOf = (shard: number) => sql<Difference>`
  with ${facts(shard)} ${ofTickets(shard)} union all ${ofBatches(shard)} order by 1`;

const facts = (shard: number) => sql`
  -- Reads the registrations twice, each time into few groups. A single read into finer groups takes ten times as long.
  seats_by_owner as materialized (
    select ticket_id, event_id, partner_id, min(serial) as first_serial, max(serial) as last_serial,
      count(*) filter (where cancelled_at is null) as seats,
      count(*) filter (where cancelled_at is null and held_until < 'infinity') as held,
      min(reserved_at) as first_reserved_at
    from registrations where shard_id = ${shard} group by ticket_id, event_id, partner_id
  ),
  seats_by_ticket as (
    select ticket_id, sum(seats) as seats, min(first_reserved_at) as first_reserved_at
    from seats_by_owner group by ticket_id
  ),
  -- The first and the last price of each ticket.
  price_by_ticket as (
    select ticket_id, min(valid_from) as first_valid_from, (array_agg(price order by valid_from desc))[1] as last_price
    from ticket_prices where shard_id = ${shard} group by ticket_id
  ),
  stored_batch as (
    select batch_id, count(*) as size, min(serial) as first_serial, max(serial) as last_serial
    from registrations where shard_id = ${shard} group by batch_id
  ),
  ticket as (select * from tickets where shard_id = ${shard}),
  allocation as (select * from allocations where shard_id = ${shard}),
  waiter as (select * from waiting_entries where shard_id = ${shard}),
  batch as (select * from batches where shard_id = ${shard}),
  -- A missing ticket is not reported here: it is reported once, with its seats.
  misplaced as materialized (
    select owned.*, case
      when e.id is null then 'its event ' || owned.event_id || ' does not exist'
      when e.shard_id <> ${shard} then 'its event ' || owned.event_id || ' lives in shard ' || e.shard_id
      when p.id is null then 'its partner ' || owned.partner_id || ' does not exist'
      else 'it is for event ' || e.id || ', but its ticket ' || t.id || ' belongs to event ' || t.event_id
    end as problem
    from seats_by_owner owned
    left join events e on e.id = owned.event_id
    left join partners p on p.id = owned.partner_id
    left join ticket t on t.id = owned.ticket_id
    where e.id is null or e.shard_id <> ${shard} or p.id is null or t.event_id <> e.id
  )`;

const ofTickets = (shard: number) => sql`
  -- Tickets whose count of seats differs from their registrations.
  select 'ticket ' || coalesce(t.id, s.ticket_id) as subject,
    case when t.id is null then 'holds ' || s.seats || ' seats, but there is no such ticket'
    else 'taken is ' || t.taken || ', but registrations hold ' || coalesce(s.seats, 0) || ' seats' end as problem
  from ticket t full join seats_by_ticket s on s.ticket_id = t.id
  where t.taken is distinct from coalesce(s.seats, 0)

  -- Allocations whose count differs from the registrations, and tickets that reserve more seats than they have left.
  union all
  select 'allocation of ticket ' || a.ticket_id || ' to partner ' || a.partner_id,
    'taken is ' || a.taken || ', but its registrations hold ' || coalesce(s.seats, 0) || ' seats'
  from allocation a
  left join (
    select ticket_id, partner_id, sum(seats) as seats from seats_by_owner group by ticket_id, partner_id
  ) s on s.ticket_id = a.ticket_id and s.partner_id = a.partner_id
  where a.taken <> coalesce(s.seats, 0)
  union all
  select 'ticket ' || t.id, 'reserves ' || sum(greatest(a.reserved - a.taken, 0)) || ' seats, but has '
    || t.capacity - t.taken || ' left'
  from ticket t join allocation a on a.ticket_id = t.id and coalesce(a.releases_at > now(), true)
  group by t.id, t.capacity, t.taken
  having sum(greatest(a.reserved - a.taken, 0)) > t.capacity - t.taken

  -- Counts of held seats that differ from the registrations.
  union all
  select 'partner ' || partner_id,
    'holds ' || sum(held) || ' seats of ticket ' || ticket_id || ', but ' || sum(counted) || ' are counted'
  from (
    select ticket_id, partner_id, held, 0 as counted from seats_by_owner
    union all select ticket_id, partner_id, 0, seats from held_seats where shard_id = ${shard}
  ) both_counts
  group by ticket_id, partner_id
  having sum(held) <> sum(counted)

  union all ${ofWaitingLists(shard)}

  union all ${ofPrices(shard)}

  -- Tickets that cannot be found, because their event leads to another shard.
  union all
  select 'ticket ' || t.id, 'is here, but its event ' || e.id || ' lives in shard ' || e.shard_id
  from ticket t join events e on e.id = t.event_id
  where e.shard_id <> ${shard}
`;

const ofPrices = (shard: number) => sql`
  -- Tickets with registrations that have no price. No registration has two: each price is valid until the next one. One
  -- that has the seat of another has its price, and both are of one ticket.
  select 'ticket ' || t.id, case
    when p.ticket_id is not null
      then 'its first price is valid from ' || p.first_valid_from || ', so registrations before it have no price'
    when s.ticket_id is not null then 'its registrations have no price'
    else 'has no price for the registrations to come'
  end
  from ticket t
  join events e on e.id = t.event_id and e.shard_id = ${shard}
  left join price_by_ticket p on p.ticket_id = t.id
  left join seats_by_ticket s on s.ticket_id = t.id
  where p.ticket_id is null or s.first_reserved_at < p.first_valid_from

  -- Tickets whose price is not the last one that is stored for registrations.
  union all
  select 'ticket ' || t.id, 'costs ' || t.price || ', but its registrations have the price ' || p.last_price
  from ticket t join price_by_ticket p on p.ticket_id = t.id
  where t.price <> p.last_price
`;

const ofWaitingLists = (shard: number) => sql`
  -- Waiting lists whose count differs from their entries, also by partner, and entries that waited while a later one
  -- of the same partner, which needs no fewer seats, got an offer. An entry of another partner may pass: this one may
  -- have held its share.
  select 'ticket ' || t.id, 'waiting is ' || t.waiting || ', but ' || coalesce(w.entries, 0) || ' entries wait'
  from ticket t
  left join (
    select ticket_id, count(*) as entries from waiter where state = 'waiting' group by ticket_id
  ) w on w.ticket_id = t.id
  where t.waiting <> coalesce(w.entries, 0)
  union all
  select 'partner ' || partner_id,
    'waits for ' || sum(waiting) || ' seats of ticket ' || ticket_id || ', but ' || sum(counted) || ' are counted'
  from (
    select ticket_id, partner_id, seats as waiting, 0 as counted from waiter where state = 'waiting'
    union all select ticket_id, partner_id, 0, seats from waiting_partners where shard_id = ${shard}
  ) both_counts
  group by ticket_id, partner_id
  having sum(waiting) <> sum(counted)
  union all
  select 'waiting entry ' || id, 'waited while a later entry got an offer: ' || later_offer
  from (
    select w.*, size, min(offered_at) filter (where seats >= size) over (
      partition by ticket_id, partner_id, size order by serial desc rows between unbounded preceding and 1 preceding
    ) as later_offer
    from waiter w cross join generate_series(1, 10) as size
  ) w
  where seats = size and later_offer < coalesce(offered_at, ended_at, 'infinity')
`;

const ofBatches = (shard: number) => sql`
  -- Batches that contradict their registrations.
  select 'batch ' || coalesce(b.id, s.batch_id),
    case when b.id is null then 'has ' || s.size || ' registrations, but there is no such batch'
    when b.size <> coalesce(s.size, 0)
      then 'should have ' || b.size || ' registrations, but has ' || coalesce(s.size, 0)
    else 'says serials ' || b.first_serial || ' to ' || b.last_serial
      || ', but has ' || s.first_serial || ' to ' || s.last_serial end
  from batch b full join stored_batch s on s.batch_id = b.id
  where coalesce(b.size, -1) <> coalesce(s.size, 0)
    or b.first_serial <> s.first_serial or b.last_serial <> s.last_serial

  -- Registrations that refer to a wrong or missing row.
  union all
  select 'registration ' || serial, problem
  from misplaced cross join lateral (
    select serial from registrations r
    where r.shard_id = ${shard} and serial between first_serial and last_serial
      and (r.ticket_id, r.event_id, r.partner_id) = (misplaced.ticket_id, misplaced.event_id, misplaced.partner_id)
    -- Keeps Postgres from reading all registrations again: usually there is nothing to look up.
    offset 0
  ) named

  -- Idempotency keys that refer to a registration of another partner or event, or to a missing one.
  union all
  select 'idempotency key "' || k.key || '" of partner ' || k.partner_id || ', event ' || k.event_id,
    'remembers registration ' || coalesce(seat.serial::text, '(none)') || coalesce(
      ', which belongs to partner ' || r.partner_id || ', event ' || r.event_id, ', which does not exist'
    )
  from idempotency_keys k cross join unnest(k.serials) with ordinality as seat (serial, position)
  left join registrations r on r.shard_id = k.shard_id and r.serial = seat.serial
  where k.shard_id = ${shard} and coalesce(k.outcomes[seat.position], 'registered') = 'registered'
    and (r.partner_id, r.event_id) is distinct from (k.partner_id, k.event_id)

  -- Forgotten batches: not finalized, or missing from the journal.
  union all
  select 'batch ' || id,
    case when state = 'pending' then 'has been pending since ' || pending_since || ' (' || size || ' registrations)'
    else 'is confirmed, but missing from the journal (' || size || ' registrations)' end
  from batch
  where pending_since < ${LONG_AGO}
    and (state = 'pending' or state = 'confirmed' and journal_offset is null)

  -- Changes that were not published.
  union all
  select 'change ' || id, kind || ' has waited for the journal since ' || at
  from changes where shard_id = ${shard} and at < ${LONG_AGO}

  -- Holds that expired long ago and whose seats were not released.
  union all
  select 'registration ' || serial, 'was held until ' || held_until || ', but its seat was not released'
  from registrations
  where shard_id = ${shard} and cancelled_at is null and held_until < ${LONG_AGO}`;
