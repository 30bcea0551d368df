// The statements of reserve_batch, for Postgres and for Citus: see engines.ts.

/** What was answered before. One by one, each by its key: of a table that it has never analyzed Postgres might read all (offset 0). */
export const EARLIER_ANSWERS = `
  select input.position, first.fingerprint = input.fingerprint as is_same, first.outcome, r.serial, r.pass_code
  from unnest($tickets, $partners, $keys, $fingerprints) with ordinality
    as input (ticket, partner_id, key, fingerprint, position)
  cross join lateral (
    select * from {idempotency_keys}
    where shard_id = $shard and partner_id = input.partner_id and event_id = ($wanted_events)[input.ticket]
      and key = input.key
    offset 0
  ) first
  left join lateral (
    select serial, pass_code from {registrations}
    where shard_id = $shard and serial = first.serial and partner_id = first.partner_id and event_id = first.event_id
    offset 0
  ) r on true
  where first.created_at > now() - $remembered_for`;

/** What was answered before to whole calls. */
export const EARLIER_CALLS = `
  select call.bulk, call.first, call.last, earlier.fingerprint = call.fingerprint as is_same, earlier.outcomes,
    earlier.serials
  from unnest($bulk_firsts, $bulk_lasts, $bulk_keys, $bulk_fingerprints) with ordinality
    as call (first, last, key, fingerprint, bulk)
  cross join lateral (
    select * from {idempotency_keys}
    where shard_id = $shard and partner_id = ($partners)[call.first]
      and event_id = ($wanted_events)[($tickets)[call.first]] and key = call.key
    offset 0
  ) earlier
  where earlier.created_at > now() - $remembered_for`;

/** What such a call was given, by position: a seat, or null where it was refused. */
export const EARLIER_SEATS = `
  select array_agg(array[$call_first + seat.index - 1, r.serial, r.pass_code])
  from unnest($call_serials) with ordinality as seat (serial, index)
  left join lateral (
    select serial, pass_code from {registrations} where shard_id = $shard and serial = seat.serial offset 0
  ) r on true`;

/** Whose attendee is registered already. */
export const DUPLICATES = `
  select input.position, earlier.partner_id, earlier.serial, earlier.pass_code
  from unnest($tickets, $digests) with ordinality as input (ticket, digest, position)
  cross join lateral (
    select partner_id, serial, pass_code from {registrations}
    where shard_id = $shard and event_id = ($wanted_events)[input.ticket] and attendee_digest = input.digest
      and cancelled_at is null
    offset 0
  ) earlier`;

/** One ticket, counted up where it has seats for all. */
export const COUNT_ONE = `
  update {tickets} set taken = taken + $size
  where shard_id = $shard and id = ($wanted_tickets)[1] and event_id = ($wanted_events)[1]
    and capacity - taken >= $size
    and active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true)
  returning capacity - taken + $size as seats`;

/**
 * Locked in id order, so that two batches can never wait for each other. Each is looked for under the event that it was asked
 * for under: its id alone would lock another event's.
 */
export const LOCK_TICKETS = `
  select capacity - taken as seats, array_position($wanted_keys, id::bigint << 32 | event_id) as index,
    active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true) as on_sale
  from {tickets}
  where shard_id = $shard and id = any($wanted_tickets) and id::bigint << 32 | event_id = any($wanted_keys)
  order by id
  for no key update`;

export const COUNT_LOCKED = `
  update {tickets} set taken = taken + ($sold)[array_position($wanted_keys, id::bigint << 32 | event_id)]
  where shard_id = $shard and id = any($wanted_tickets)
    and ($sold)[array_position($wanted_keys, id::bigint << 32 | event_id)] > 0`;

/**
 * By ticket and partner who asks for holds: the positions, and how many seats it may hold beyond those that it holds now. Its
 * share of the ticket is at least one seat. The tickets are locked, so nobody else adds holds meanwhile.
 */
export const COUNT_HOLDS = `
  select owner.positions,
    (greatest(ticket.capacity::bigint * $hold_percent / 100, 1) - held.seats)::integer as seats
  from (
    select ticket, partner_id, array_agg(position::integer) as positions
    from unnest($tickets, $partners, $held_seconds) with ordinality as input (ticket, partner_id, held_for, position)
    where held_for is not null group by ticket, partner_id
  ) owner
  cross join lateral (
    select capacity from {tickets}
    where shard_id = $shard and id = ($wanted_tickets)[owner.ticket] and event_id = ($wanted_events)[owner.ticket]
    offset 0
  ) ticket
  cross join lateral (
    select count(*) as seats from {registrations}
    where shard_id = $shard and ticket_id = ($wanted_tickets)[owner.ticket] and partner_id = owner.partner_id
      and held_until is not null and held_until > now() and cancelled_at is null
    offset 0
  ) held`;

const SEAT = 'shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code';
const ATTENDEE = 'full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2';

export const INSERT_REGISTRATIONS = `
  insert into {registrations} (${SEAT}, ${ATTENDEE}) overriding system value
  select $shard, serial, $batch, position, ($wanted_tickets)[ticket], ($wanted_events)[ticket], partner_id, pass_code,
    ${ATTENDEE}
  from (
    select unnest($granted) as serial, generate_series(1, $size) as position, unnest($tickets) as ticket,
      unnest($partners) as partner_id, unnest($pass_codes) as pass_code, unnest($full_names) as full_name,
      unnest($email_addresses) as email_address, unnest($phone_numbers) as phone_number, unnest($genders) as gender,
      unnest($tables_or_seats) as table_or_seat, unnest($extra_data_1) as extra_data_1,
      unnest($extra_data_2) as extra_data_2
  ) input
  where serial is not null`;

/**
 * The same where there is more to store: attendees that are unique, seats that are held. The former go in sorted: one batch may
 * wait for another's until that one has ended, and in one order for all, two can never wait for each other. (Sorting costs the
 * others too much.)
 */
export const INSERT_SPECIAL = `
  insert into {registrations} (${SEAT}, attendee_digest, held_until, ${ATTENDEE}) overriding system value
  select $shard, serial, $batch, position, ($wanted_tickets)[ticket], ($wanted_events)[ticket], partner_id, pass_code, digest,
    now() + make_interval(secs => held_for), ${ATTENDEE}
  from unnest(
    $granted, $tickets, $partners, $pass_codes, $digests, $held_seconds, $full_names, $email_addresses, $phone_numbers, $genders,
    $tables_or_seats, $extra_data_1, $extra_data_2
  ) with ordinality as input (serial, ticket, partner_id, pass_code, digest, held_for, ${ATTENDEE}, position)
  where serial is not null
  order by ($wanted_events)[ticket], digest, position`;

/** Outbox for finalization, and proof that this has committed. */
export const INSERT_BATCH = `
  insert into {batches} (
    shard_id, id, size, first_serial, last_serial, event_id, partner_id, events, partners, serials, relay_at, sold_out
  ) values (
    $shard, $batch, $seats_granted, $first_serial, $last_serial, $only_event, $only_partner, $their_events, $their_partners,
    $their_serials, now() + $relay_after, $sold_out
  )`;

/** The answers, remembered under their keys: sorted, as attendees are. */
export const INSERT_KEYS = `
  insert into {idempotency_keys} (shard_id, partner_id, event_id, key, fingerprint, outcome, serial)
  select $shard, input.partner_id, ($wanted_events)[input.ticket], input.key, input.fingerprint,
    case input.outcome when 'existing' then 'registered' else input.outcome end, input.serial
  from unnest($tickets, $partners, $keys, $fingerprints, $outcomes, coalesce($remembered, $granted), $replayed)
    as input (ticket, partner_id, key, fingerprint, outcome, serial, is_replayed)
  where input.key is not null and input.is_replayed is null and input.outcome <> 'key-reused'
  order by 2, 3, 4`;

/** One for each call, with what became of all that it asked for. Null: each of them has a seat. */
export const INSERT_CALLS = `
  insert into {idempotency_keys} (shard_id, partner_id, event_id, key, fingerprint, outcome, outcomes, serials)
  select $shard, ($partners)[call.first], ($wanted_events)[($tickets)[call.first]], call.key, call.fingerprint, 'bulk',
    array_replace(($outcomes)[call.first:call.last], 'existing', 'registered'),
    (coalesce($remembered, $granted))[call.first:call.last]
  from unnest($bulk_firsts, $bulk_lasts, $bulk_keys, $bulk_fingerprints) as call (first, last, key, fingerprint)
  where coalesce(($known)[call.first], 'existing') = 'existing'
  order by 2, 3, 4`;
