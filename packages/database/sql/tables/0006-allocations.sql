-- Seats of a ticket that only one partner may sell, until a time, and the number that it may sell at most. "taken" is
-- the number of its seats that are not cancelled. Writers have locked the ticket.
create table allocations (
  shard_id integer not null,
  ticket_id integer not null,
  partner_id integer not null,
  reserved integer not null default 0 check (reserved >= 0),
  cap integer check (cap >= 0),
  -- Null: never.
  releases_at timestamptz,
  taken integer not null,
  primary key (shard_id, ticket_id, partner_id)
) with (fillfactor = 50);

-- Whether the ticket has allocations. So a ticket without them pays nothing.
alter table tickets add column allocated boolean not null default false;
