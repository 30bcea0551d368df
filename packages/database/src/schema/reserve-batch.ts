import { sql, type RawBuilder } from 'kysely';
import type { Engine } from './engines.ts';
import {
  EARLIER_ANSWERS,
  EARLIER_CALLS,
  EARLIER_SEATS,
  DUPLICATES,
  COUNT_ONE,
  LOCK_TICKETS,
  COUNT_LOCKED,
  COUNT_HOLDS,
  INSERT_REGISTRATIONS,
  INSERT_SPECIAL,
  INSERT_BATCH,
  INSERT_KEYS,
  INSERT_CALLS,
} from './reserve-batch-statements.ts';

const DECLARATIONS = `
declare
  size constant integer := cardinality(tickets);
  -- By wanted ticket. Null: there is none. Negative: it is not on sale.
  seats_left integer[] := array_fill(null::integer, array[cardinality(wanted_tickets)]);
  -- By position: what was said before, or 'existing', where the attendee gets the first seat once more; that the attendee is
  -- registered already. Null: nothing yet, and no.
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
  -- By position of the first of those who ask for the same attendee: which of them has a seat.
  attending integer[];
  -- By position: whose seat it has, where that is granted in this batch.
  same_as integer[];
  -- By position, where there are such: the serials that keys have to remember. Otherwise they are the granted ones.
  remembered bigint[];
  -- What is looked at: a registration, and the bulk call that it is of.
  outcome text;
  ticket integer;
  bulk integer := 1;
  is_refused boolean := false;
  call_first integer;
  call_serials bigint[];
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
  seats_before bigint[];
  -- Position, serial and pass code of seats that attendees have already.
  existing bigint[] := '{}';
  seat bigint[];
  -- By position: who holds it, as an index into holds_left. Null: nobody, or holds are not limited.
  holders integer[];
  -- By ticket and partner: how many more seats it may hold.
  holds_left integer[];
  holds_suffice boolean := true;
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
      else
        known[entry.position] := entry.outcome;
        replayed[entry.position] := true;
        replays := replays || array[array[entry.position, entry.serial, entry.pass_code]];
      end if;
    end loop;
  end if;

  if bulk_keys is not null then
    for entry in
      ${run(EARLIER_CALLS)}
    loop
      known := coalesce(known, array_fill(null::text, array[size]));
      replayed := coalesce(replayed, array_fill(null::boolean, array[size]));
      call_first := entry.first;
      call_serials := entry.serials;
      for i in entry.first .. entry.last loop
        known[i] := case when entry.is_same then coalesce(entry.outcomes[i - entry.first + 1], 'registered') else 'key-reused' end;
        replayed[i] := entry.is_same;
      end loop;
      if entry.is_same then
        ${run(EARLIER_SEATS, 'seats_before')};
        replays := replays || seats_before;
      end if;
    end loop;
  end if;

  if digests is not null then
    for entry in
      ${run(DUPLICATES)}
    loop
      if returns_existing[entry.position] and entry.partner_id = partners[entry.position] then
        known := coalesce(known, array_fill(null::text, array[size]));
        if known[entry.position] is null then
          known[entry.position] := 'existing';
          existing := existing || array[array[entry.position, entry.serial, entry.pass_code]];
        end if;
      else
        is_duplicate := coalesce(is_duplicate, array_fill(null::boolean, array[size]));
        is_duplicate[entry.position] := true;
      end if;
    end loop;
  end if;`;

const countSeats = ({ run }: Engine) => `
  -- One ticket with seats for all, as nearly always.
  if cardinality(wanted_tickets) = 1 and held_seconds is null and known is null and is_duplicate is null and repeats is null then
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
  end if;

  if held_seconds is not null and hold_percent is not null then
    holders := array_fill(null::integer, array[size]);
    for entry in
      ${run(COUNT_HOLDS)}
    loop
      holds_left := holds_left || entry.seats;
      holds_suffice := holds_suffice and cardinality(entry.positions) <= entry.seats;
      for i in 1 .. cardinality(entry.positions) loop
        holders[entry.positions[i]] := cardinality(holds_left);
      end loop;
    end loop;
  end if;`;

/**
 * Seats go by position while they last. What a bulk call wants whole is given back where one of it is refused.
 */
const GRANT = `
  if is_counted or known is null and is_duplicate is null and repeats is null and holds_suffice
    and enough = cardinality(wanted_tickets)
  then
    -- Everybody gets one, as nearly always.
    granted := array(select nextval('registrations_serial_seq') from generate_series(1, size));
    sold := wanted_seats;
    seats_granted := size;
    first_serial := granted[1];
    last_serial := granted[size];
  else
    outcomes := array_fill(null::text, array[size]);
    attending := array_fill(null::integer, array[size]);
    sold := array_fill(0, array[cardinality(wanted_tickets)]);
    for i in 1 .. size loop
      ticket := tickets[i];
      outcome := case
        when known[i] is not null then known[i]
        when returns_existing[i] and partners[attending[repeats[i]]] = partners[i] then 'existing'
        when seats_left[ticket] is null then 'no-such-ticket'
        when seats_left[ticket] < 0 then 'not-on-sale'
        when is_duplicate[i] or attending[repeats[i]] is not null then 'duplicate'
        when seats_left[ticket] <= sold[ticket] then 'sold-out'
        when holds_left[holders[i]] <= 0 then 'hold-limit'
        else 'registered'
      end;
      outcomes[i] := outcome;
      if known[i] is null and outcome = 'registered' then
        sold[ticket] := sold[ticket] + 1;
        if holders[i] is not null then
          holds_left[holders[i]] := holds_left[holders[i]] - 1;
        end if;
        if repeats[i] is not null then
          attending[repeats[i]] := i;
        end if;
      end if;
      if outcome = 'existing' and known[i] is null then
        same_as := coalesce(same_as, array_fill(null::integer, array[size]));
        same_as[i] := attending[repeats[i]];
      end if;
      if i = bulk_firsts[bulk] then
        is_refused := false;
      end if;
      is_refused := is_refused or outcome not in ('registered', 'existing');
      if i = bulk_lasts[bulk] then
        if is_refused and bulk_all[bulk] and coalesce(known[i], 'existing') = 'existing' then
          for j in bulk_firsts[bulk] .. i loop
            if outcomes[j] = 'registered' then
              outcomes[j] := 'group-refused';
              sold[tickets[j]] := sold[tickets[j]] - 1;
              if holders[j] is not null then
                holds_left[holders[j]] := holds_left[holders[j]] + 1;
              end if;
              if repeats[j] is not null then
                attending[repeats[j]] := null;
              end if;
            elsif outcomes[j] = 'existing' then
              outcomes[j] := 'group-refused';
            end if;
          end loop;
        end if;
        bulk := bulk + 1;
      end if;
    end loop;
    granted := array(
      select case when known is null and outcome = 'registered' then nextval('registrations_serial_seq') end
      from unnest(outcomes, known) as _ (outcome, known)
    );
    if 'existing' = any(outcomes) then
      remembered := granted;
      for i in 1 .. coalesce(cardinality(same_as), 0) loop
        if outcomes[i] = 'existing' and same_as[i] is not null then
          existing := existing || array[array[i, granted[same_as[i]], pass_codes[same_as[i]]]];
        end if;
      end loop;
      foreach seat slice 1 in array existing loop
        if outcomes[seat[1]] = 'existing' then
          remembered[seat[1]] := seat[2];
          replays := replays || array[seat];
        end if;
      end loop;
    end if;
    select count(*), min(serial), max(serial) into seats_granted, first_serial, last_serial
    from unnest(granted) as _ (serial) where serial is not null;
  end if;`;

const store = ({ run }: Engine) => `
  if seats_granted > 0 then
    -- The tickets' counters, moved on by as many.
    if not is_counted then
      ${run(COUNT_LOCKED)};
    end if;

    if digests is null and held_seconds is null then
      ${run(INSERT_REGISTRATIONS)};
    else
      ${run(INSERT_SPECIAL)};
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
    -- Of a batch with held seats finalization reads the registrations.
    if wanted_events[1] = all(wanted_events) and held_seconds is null then
      only_event := wanted_events[1];
    elsif seats_granted = size and held_seconds is null then
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

  if bulk_keys is not null then
    ${run(INSERT_CALLS)};
  end if;
  if keys is not null then
    ${run(INSERT_KEYS)};
  end if;`;

/**
 * The steps of a batch as one function of a shard: one round trip, one transaction. Each is a statement of its own, because
 * Citus cannot plan them as one. For Postgres that is cheaper too: what the next step needs is in arrays.
 *
 * Registrations come as arrays by position; `tickets` are indexes into the wanted tickets, which are distinct and in id
 * order. A bulk call is what lies from its first position to its last. Of those who ask for one attendee more than once,
 * `repeats` is the position of the first; where it `returns_existing`, who asks again gets the first one's seat. What nobody in
 * the batch has (keys, digests, bulk calls, seats that are held) is null. A partner may hold `hold_percent` of a ticket; null: all
 * of it, as for a process of the release before, which does not name it. Returns as JSON
 *
 *   outcomes   by position; null: all registered
 *   serials    by position: of who got a seat just now
 *   replays    of who is answered as before, or has a seat already ('existing'): position, serial and pass code, which are null
 *              where there is no seat
 */
export const createReserveBatch = (engine: Engine): RawBuilder<unknown> =>
  sql.raw(`
  create or replace function reserve_batch(
    shard integer, batch uuid, lock_within_ms integer, relay_after interval, remembered_for interval,
    wanted_tickets integer[], wanted_events integer[], wanted_seats integer[],
    bulk_firsts integer[], bulk_lasts integer[], bulk_all boolean[], bulk_keys text[], bulk_fingerprints uuid[],
    tickets integer[], partners integer[], pass_codes bigint[], digests uuid[], returns_existing boolean[], repeats integer[], held_seconds integer[],
    keys text[], fingerprints uuid[],
    full_names text[], email_addresses text[], phone_numbers text[], genders text[], tables_or_seats text[],
    extra_data_1 text[], extra_data_2 text[], hold_percent integer default null
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
