-- Returns json, by position of the hold: its seats by serial, with their states as TypeScript's findHolds
-- reads them. Null: there is no such hold. The seats in "confirmed" were confirmed by this call, so they are
-- 'reserved': the journal does not have them yet, also if their batch is finalized.
create or replace function describe_holds(shard integer, hold_ids uuid[], confirmed bigint[]) returns json
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  read_at constant timestamptz := now();
  holds json;
begin
  select json_agg(seats order by position) into holds
  from (
    select input.position, json_agg(json_build_object(
      'serial', r.serial, 'passCode', r.pass_code, 'ticketId', r.ticket_id, 'partnerReference', r.partner_reference,
      'state', case
        when r.cancelled_at is not null or r.held_until <= read_at then 'cancelled'
        when r.held_until < 'infinity' then 'held'
        when b.state = 'pending' or r.serial = any(confirmed) then 'reserved'
        else b.state::text end,
      'heldUntil', nullif(r.held_until, 'infinity'),
      'isExpired', coalesce(r.held_until <= coalesce(r.cancelled_at, read_at), false)
    ) order by r.serial) filter (where r.serial is not null) as seats
    from unnest(hold_ids) with ordinality as input (hold_id, position)
    -- Looked up by key (offset 0), not by a scan.
    left join lateral (
      select serial, batch_id, ticket_id, pass_code, partner_reference, held_until, cancelled_at from registrations
      where shard_id = shard and hold_id = input.hold_id
      offset 0
    ) r on true
    left join lateral (
      select state from batches where shard_id = shard and id = r.batch_id offset 0
    ) b on true
    group by input.position
  ) of_hold;
  return holds;
end $$;
