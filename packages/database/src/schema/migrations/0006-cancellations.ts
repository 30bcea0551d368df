import { sql, type Kysely } from 'kysely';
import { PLAIN } from '../engines.ts';
import { INSERT_LISTS } from '../segments.ts';

/** Cancellations. A seat goes back with the registration, and the journal tells of it, in one transaction. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null: registrations can be cancelled at any time.
  await sql`alter table events add cancel_until timestamptz`.execute(db);

  // Locks in the order of all others: tickets, registrations, the journal's head, batches. By position: 'cancelled', also where
  // it was so before, 'too-late', or null where there is no such registration. As the owner: so whoever calls it can cancel what
  // it has the pass code of, and write nothing else into the journal. Written for plain Postgres: on a cluster it may
  // be part of a longer transaction, and is rare enough.
  await sql`
    create function cancel_registrations(
      shard integer, lock_within_ms integer,
      wanted bigint[], wanted_partners integer[], wanted_events integer[], wanted_codes bigint[], deadlines timestamptz[]
    ) returns text[] language plpgsql security definer set search_path from current
    set enable_seqscan = off
    as $$
    #variable_conflict use_column
    declare
      kind constant text := 'cancelled';
      outcomes text[] := array_fill(null::text, array[cardinality(wanted)]);
      due bigint[];
      due_tickets integer[];
      -- By registration that is cancelled now.
      serials bigint[];
      events integer[];
      partners integer[];
      tickets_of integer[];
      batches_of uuid[];
      head bigint;
      entry record;
    begin
      perform set_config('lock_timeout', lock_within_ms::text, true);
      for entry in
        select input.position, r.serial, r.ticket_id, r.cancelled_at is not null as is_cancelled,
          coalesce(now() >= input.deadline, false) as is_late
        from unnest(wanted, wanted_partners, wanted_events, wanted_codes, deadlines) with ordinality
          as input (serial, partner_id, event_id, pass_code, deadline, position)
        cross join lateral (
          select serial, ticket_id, cancelled_at from registrations
          where shard_id = shard and serial = input.serial and partner_id = input.partner_id
            and event_id = input.event_id and pass_code = input.pass_code
          offset 0
        ) r
      loop
        outcomes[entry.position] := case when entry.is_cancelled or not entry.is_late then kind else 'too-late' end;
        if not (entry.is_cancelled or entry.is_late) then
          due := due || entry.serial;
          due_tickets := due_tickets || entry.ticket_id;
        end if;
      end loop;
      if due is null then
        return outcomes;
      end if;

      -- In id order, as batches lock them.
      perform from tickets where shard_id = shard and id = any(due_tickets) order by id for no key update;
      -- Somebody else may have been faster.
      for entry in
        update registrations set cancelled_at = now()
        where shard_id = shard and serial = any(due) and cancelled_at is null
        returning serial, event_id, partner_id, ticket_id, batch_id
      loop
        serials := serials || entry.serial;
        events := events || entry.event_id;
        partners := partners || entry.partner_id;
        tickets_of := tickets_of || entry.ticket_id;
        batches_of := batches_of || entry.batch_id;
      end loop;
      if serials is null then
        return outcomes;
      end if;

      select last_offset into head from journal_heads where shard_id = shard for update;
      -- What is not finalized yet, or will be once more, has to read who is left.
      update batches set event_id = null, events = null
      where shard_id = shard and id = any(batches_of) and (journal_offset is null or state = 'failed');
      ${sql.raw(PLAIN.run(INSERT_LISTS))};
      update journal_heads set last_offset = head + cardinality(serials) where shard_id = shard;

      for entry in
        update tickets set taken = taken - freed.seats
        from (select ticket, count(*)::integer as seats from unnest(tickets_of) as ticket group by ticket) freed
        where shard_id = shard and id = freed.ticket
        returning id, event_id, taken + freed.seats = capacity as was_sold_out
      loop
        if entry.was_sold_out then
          perform tell_of_ticket(shard, entry.event_id, entry.id, 'reopened');
        end if;
      end loop;
      return outcomes;
    end $$`.execute(db);
}
