-- Cancels registrations of an event in the name of an operator, for a job. Returns, by item, why it could not be
-- cancelled; null: it is cancelled. "leave_admitted": not those whose seat has let in a person. The worker offers
-- the freed seats to those who wait.
create or replace function cancel_items(
  shard integer, event integer, items text[], leave_admitted boolean, lock_within_ms integer
) returns text[]
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  serials constant bigint[] := items::bigint[];
  partners integer[];
  codes bigint[];
  outcomes text[];
begin
  select array_agg(partner_id order by place), array_agg(pass_code order by place)
  from unnest(serials) with ordinality as input (serial, place)
  left join lateral (
    select partner_id, pass_code from registrations
    where shard_id = shard and serial = input.serial and event_id = event offset 0
  ) r on true
  into partners, codes;
  outcomes := change_registrations(
    shard, lock_within_ms, 'cancelled', serials, partners, array_fill(event, array[cardinality(serials)]), codes,
    null, null, true, leave_admitted
  );
  -- The journal says that an operator cancelled, so attendees get the e-mail that the event has for that.
  return array(
    select case when outcome = 'cancelled' then null else coalesce(outcome, 'not found') end
    from unnest(outcomes) with ordinality as ended (outcome, place) order by place
  );
end $$;
