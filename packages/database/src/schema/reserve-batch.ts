import { sql, type RawBuilder } from 'kysely';
import type { Engine } from './engines.ts';

/** What was answered before. One by one, each by its key: of a table that it has never analyzed Postgres might read all (offset 0). */
const EARLIER_ANSWERS = `
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

/** Whose attendee is registered for the event already. */
const DUPLICATES = `
  select input.position
  from unnest($tickets, $digests) with ordinality as input (ticket, digest, position)
  cross join lateral (
    select serial from {registrations}
    where shard_id = $shard and event_id = ($wanted_events)[input.ticket] and attendee_digest = input.digest
      and cancelled_at is null
    offset 0
  ) earlier`;

/** One ticket, counted up where it has seats for all. */
const COUNT_ONE = `
  update {tickets} set taken = taken + $size
  where shard_id = $shard and id = ($wanted_tickets)[1] and event_id = ($wanted_events)[1]
    and capacity - taken >= $size
    and active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true)
  returning capacity - taken + $size as seats`;

/**
 * Locked in id order, so that two batches can never wait for each other. Each is looked for under the event that it was asked
 * for under: its id alone would lock another event's.
 */
const LOCK_TICKETS = `
  select capacity - taken as seats, array_position($wanted_keys, id::bigint << 32 | event_id) as index,
    active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true) as on_sale
  from {tickets}
  where shard_id = $shard and id = any($wanted_tickets) and id::bigint << 32 | event_id = any($wanted_keys)
  order by id
  for no key update`;

const COUNT_LOCKED = `
  update {tickets} set taken = taken + ($sold)[array_position($wanted_keys, id::bigint << 32 | event_id)]
  where shard_id = $shard and id = any($wanted_tickets)
    and ($sold)[array_position($wanted_keys, id::bigint << 32 | event_id)] > 0`;

const SEAT = 'shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code';
const ATTENDEE = 'full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2';

const INSERT_REGISTRATIONS = `
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
 * Attendees that are unique go in sorted: one batch may wait for another's until that one has ended, and in one order for
 * all, two can never wait for each other. (Sorting costs the others too much.)
 */
const INSERT_UNIQUE = `
  insert into {registrations} (${SEAT}, attendee_digest, ${ATTENDEE}) overriding system value
  select $shard, serial, $batch, position, ($wanted_tickets)[ticket], ($wanted_events)[ticket], partner_id, pass_code, digest,
    ${ATTENDEE}
  from unnest(
    $granted, $tickets, $partners, $pass_codes, $digests, $full_names, $email_addresses, $phone_numbers, $genders,
    $tables_or_seats, $extra_data_1, $extra_data_2
  ) with ordinality as input (serial, ticket, partner_id, pass_code, digest, ${ATTENDEE}, position)
  where serial is not null
  order by ($wanted_events)[ticket], digest, position`;

/** Outbox for finalization, and proof that this has committed. */
const INSERT_BATCH = `
  insert into {batches} (
    shard_id, id, size, first_serial, last_serial, event_id, partner_id, events, partners, serials, relay_at, sold_out
  ) values (
    $shard, $batch, $seats_granted, $first_serial, $last_serial, $only_event, $only_partner, $their_events, $their_partners,
    $their_serials, now() + $relay_after, $sold_out
  )`;

/** The answers, remembered under their keys: sorted, as attendees are. */
const INSERT_KEYS = `
  insert into {idempotency_keys} (shard_id, partner_id, event_id, key, fingerprint, outcome, serial)
  select $shard, input.partner_id, ($wanted_events)[input.ticket], input.key, input.fingerprint, input.outcome, input.serial
  from unnest($tickets, $partners, $keys, $fingerprints, $outcomes, $granted, $replayed)
    as input (ticket, partner_id, key, fingerprint, outcome, serial, is_replayed)
  where input.key is not null and input.is_replayed is null and input.outcome not in ('key-reused', 'failed')
  order by 2, 3, 4`;

const DECLARATIONS = `
declare
  size constant integer := cardinality(tickets);
  -- By wanted ticket. Null: there is none. Negative: it is not on sale.
  seats_left integer[] := array_fill(null::integer, array[cardinality(wanted_tickets)]);
  -- By position: what was said before; that the attendee is registered already. Null: nothing yet, and no.
  known text[];
  is_duplicate boolean[];
  outcomes text[];
  -- By position: the serial of who gets a seat now.
  granted bigint[];
  -- By wanted ticket: how many of its seats are granted.
  sold integer[];
  sold_out integer[];
  seats_granted integer;
  -- How many of the tickets have seats for all.
  enough integer := 0;
  -- That the seats are counted already.
  is_counted boolean := false;
  -- By wanted ticket: ticket and event together.
  wanted_keys bigint[];
  first_serial bigint;
  last_serial bigint;
  -- Whose all of it is. Null: several's.
  only_event integer;
  only_partner integer;
  -- Of these otherwise, in the order of the serials; and the serials, where they do not simply follow each other.
  their_events integer[];
  their_partners integer[];
  their_serials bigint[];
  -- By position: that the answer is one from before.
  replayed boolean[];
  replays bigint[] := '{}';
  entry record;`;

/** What is known of them already. */
const lookUp = ({ run }: Engine) => `
  if keys is not null then
    known := array_fill(null::text, array[size]);
    replayed := array_fill(null::boolean, array[size]);
    for entry in
      ${run(EARLIER_ANSWERS)}
    loop
      if not entry.is_same then
        known[entry.position] := 'key-reused';
      elsif entry.outcome = 'registered' and entry.serial is null then
        -- A remembered answer is never made up: its registration is gone, so nobody knows its pass.
        known[entry.position] := 'failed';
      else
        known[entry.position] := entry.outcome;
        replayed[entry.position] := true;
        replays := replays || array[array[entry.position, entry.serial, entry.pass_code]];
      end if;
    end loop;
  end if;

  if digests is not null then
    is_duplicate := array_fill(null::boolean, array[size]);
    for entry in
      ${run(DUPLICATES)}
    loop
      is_duplicate[entry.position] := true;
    end loop;
  end if;`;

const countSeats = ({ run }: Engine) => `
  -- One ticket with seats for all, as nearly always.
  if cardinality(wanted_tickets) = 1 and known is null and is_duplicate is null then
    ${run(COUNT_ONE, 'entry')};
    seats_left[1] := entry.seats;
    is_counted := entry.seats is not null;
  end if;

  if not is_counted then
    wanted_keys := array(
      select ticket_id::bigint << 32 | event_id from unnest(wanted_tickets, wanted_events) as _ (ticket_id, event_id)
    );
    for entry in
      ${run(LOCK_TICKETS)}
    loop
      seats_left[entry.index] := case when entry.on_sale then entry.seats else -1 end;
      if seats_left[entry.index] >= wanted_seats[entry.index] then
        enough := enough + 1;
      end if;
    end loop;
  end if;`;

/** Seats go by position while they last. */
const GRANT = `
  if is_counted or known is null and is_duplicate is null and enough = cardinality(wanted_tickets) then
    -- Everybody gets one, as nearly always.
    granted := array(select nextval('registrations_serial_seq') from generate_series(1, size));
    sold := wanted_seats;
    seats_granted := size;
    first_serial := granted[1];
    last_serial := granted[size];
  else
    select array_agg(decided.outcome order by decided.position),
      array_agg(
        case when decided.known is null and decided.outcome = 'registered' then nextval('registrations_serial_seq') end
        order by decided.position
      )
    into outcomes, granted
    from (
      select input.position, input.known, case
          when input.known is not null then input.known
          when seats_left[input.ticket] is null then 'no-such-ticket'
          when seats_left[input.ticket] < 0 then 'not-on-sale'
          when input.is_duplicate then 'duplicate'
          when row_number() over (
            partition by input.ticket, input.known is null and input.is_duplicate is null order by input.position
          ) <= seats_left[input.ticket] then 'registered'
          else 'sold-out'
        end as outcome
      from unnest(tickets, known, is_duplicate) with ordinality as input (ticket, known, is_duplicate, position)
      order by input.position
    ) decided;
    sold := array(
      select count(input.serial)::integer
      from generate_subscripts(wanted_tickets, 1) as wanted (index)
      left join unnest(tickets, granted) as input (ticket, serial) on input.ticket = wanted.index
      group by wanted.index
      order by wanted.index
    );
    select count(*), min(serial), max(serial) into seats_granted, first_serial, last_serial
    from unnest(granted) as _ (serial) where serial is not null;
  end if;`;

const store = ({ run }: Engine) => `
  if seats_granted > 0 then
    -- The tickets' counters, moved on by as many.
    if not is_counted then
      ${run(COUNT_LOCKED)};
    end if;

    if digests is null then
      ${run(INSERT_REGISTRATIONS)};
    else
      ${run(INSERT_UNIQUE)};
    end if;

    -- JSON's numbers end here. Every server of a cluster numbers from 2^48 times its own number on.
    if last_serial > 9007199254740991 then
      raise exception 'the serials are used up' using errcode = 'sequence_generator_limit_exceeded';
    end if;

    for ticket in 1 .. cardinality(wanted_tickets) loop
      if sold[ticket] > 0 and sold[ticket] = seats_left[ticket] then
        sold_out := sold_out || wanted_tickets[ticket];
      end if;
    end loop;
    if wanted_events[1] = all(wanted_events) then
      only_event := wanted_events[1];
    elsif seats_granted = size then
      their_events := array(select wanted_events[ticket] from unnest(tickets) as ticket);
    end if;
    if partners[1] = all(partners) then
      only_partner := partners[1];
    elsif seats_granted = size then
      their_partners := partners;
    end if;
    if seats_granted = size and last_serial - first_serial + 1 > size then
      their_serials := granted;
    end if;
    ${run(INSERT_BATCH)};
  end if;

  if keys is not null then
    ${run(INSERT_KEYS)};
  end if;`;

/**
 * The steps of a batch as one function of a shard: one round trip, one transaction. Each is a statement of its own, because
 * Citus cannot plan them as one. For Postgres that is cheaper too: what the next step needs is in arrays.
 *
 * Registrations come as arrays by position; `tickets` are indexes into the wanted tickets, which are distinct and in id
 * order. What nobody in the batch has (keys, digests) is null. Returns as JSON
 *
 *   outcomes   by position; null: all registered
 *   serials    by position: of who got a seat just now
 *   replays    of who is answered as before: position, serial and pass code, which are null where there is no seat
 */
export const createReserveBatch = (engine: Engine): RawBuilder<unknown> =>
  sql.raw(`
  create or replace function reserve_batch(
    shard integer, batch uuid, lock_within_ms integer, relay_after interval, remembered_for interval,
    wanted_tickets integer[], wanted_events integer[], wanted_seats integer[],
    tickets integer[], partners integer[], pass_codes bigint[], digests uuid[], keys text[], fingerprints uuid[],
    full_names text[], email_addresses text[], phone_numbers text[], genders text[], tables_or_seats text[],
    extra_data_1 text[], extra_data_2 text[]
  ) returns json language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  as $$
  #variable_conflict use_column
  ${DECLARATIONS}
  begin
    -- Of this transaction only, so that it works through a pooler.
    perform set_config('lock_timeout', lock_within_ms::text, true);
    ${engine.begin}
    ${lookUp(engine)}
    ${countSeats(engine)}
    ${GRANT}
    ${store(engine)}
    return json_build_object('outcomes', outcomes, 'serials', granted, 'replays', replays);
  end $$`);
