-- Null: not disabled. The keys of a disabled partner are refused, and its webhooks get nothing.
alter table partners add column disabled_at timestamptz;
-- Null: not archived. Lists hide archived events.
alter table events add column archived_at timestamptz;
-- The tickets that an operator took off sale together. Null: none.
alter table events add column stopped_tickets integer[];

-- Names and addresses of attendees in lower case, for operators who look for somebody. index_attendees fills it from the journal after
-- the registrations are confirmed: an index on registrations would cost each of them a seventh of the rate.
create table attendees (
  shard_id integer not null,
  event_id integer not null,
  serial bigint not null,
  name text collate "C" not null,
  email text collate "C" not null,
  primary key (shard_id, serial)
);
create index attendees_by_name on attendees (shard_id, event_id, name, serial);
create index attendees_by_email on attendees (shard_id, event_id, email, serial);

-- The offset up to which the journal of each shard was read for it. No row: not yet.
create table attendee_scans (
  shard_id integer primary key,
  last_offset bigint not null default 0
) with (fillfactor = 50);
