-- Entries of waiting lists. An offer is a hold whose hold_id is the id of the entry. Writers have locked the ticket, except
-- the confirmation of an offer.
create table waiting_entries (
  shard_id integer not null,
  -- From the sequence of registrations, so that the journal can list both. Entries are served in this order.
  serial bigint not null,
  id uuid not null,
  event_id integer not null,
  ticket_id integer not null,
  partner_id integer not null,
  seats smallint not null check (seats between 1 and 10),
  state text not null default 'waiting' check (state in ('waiting', 'offered', 'confirmed', 'expired', 'left')),
  -- The contact, who gets the e-mail about the offer.
  full_name varchar(1020) not null,
  email_address varchar(254) not null,
  partner_reference varchar(64),
  -- The Idempotency-Key of the call.
  key text,
  joined_at timestamptz not null default now(),
  offered_at timestamptz,
  -- When the offer ends, or ended.
  expires_at timestamptz,
  ended_at timestamptz,
  primary key (shard_id, serial)
);
create unique index waiting_entries_id on waiting_entries (shard_id, id);
create unique index waiting_entries_key on waiting_entries (shard_id, event_id, partner_id, key) where key is not null;
create index waiting_entries_in_line on waiting_entries (shard_id, ticket_id, seats, serial) where state = 'waiting';
create index waiting_entries_served on waiting_entries (shard_id, ticket_id, serial) where offered_at is not null;

-- How long an offer lasts. Null: the ticket has no waiting list.
alter table tickets add column offer_hours integer;
alter table tickets add column waiting_closes_at timestamptz;
-- Number of waiting entries. Until it is 0, the ticket is sold out for everybody else.
alter table tickets add column waiting integer not null default 0;
create index tickets_waited_for on tickets (shard_id) where waiting > 0;
