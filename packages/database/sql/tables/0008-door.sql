-- Check-in. Gates and devices belong to an event, and are stored in its shard.
create sequence door_ids as integer;

create table gates (
  shard_id integer not null,
  id integer not null default nextval('door_ids'),
  event_id integer not null,
  name varchar(255) not null,
  -- Gates of one area share their rule and their admissions. Neither changes.
  area varchar(64) not null,
  -- Null: all tickets of the event.
  tickets integer[],
  opens_at timestamptz,
  closes_at timestamptz,
  entry_rule text not null check (entry_rule in ('once', 're-entry', 'any')),
  shows_names boolean not null,
  primary key (shard_id, id)
);
create index gates_event on gates (event_id);

create table devices (
  shard_id integer not null,
  id integer not null default nextval('door_ids'),
  event_id integer not null,
  name varchar(255) not null,
  gates integer[] not null,
  -- The SHA-256 of the code that enrols the device. Null: it was used.
  code_hash bytea,
  code_expires_at timestamptz not null,
  -- The raw Ed25519 key, and the SHA-256 of the token. Null: not enrolled yet.
  public_key bytea,
  token_hash bytea,
  version varchar(64),
  last_contact_at timestamptz,
  -- The correction of the device's clock: added to it, the result is the time of the server.
  skew_ms bigint not null default 0,
  -- The highest counter that the device has named, and the number of its scans that are stored.
  last_counter bigint not null default 0,
  received bigint not null default 0,
  -- Since then the device has promised to scan nothing more.
  signed_off_at timestamptz,
  revoked_at timestamptz,
  -- Whether it was revoked because it was lost.
  lost boolean not null default false,
  -- The device has sent two different scans with this counter: its memory was copied or restored.
  forked_counter bigint,
  primary key (shard_id, id)
);
create index devices_event on devices (event_id);

-- Every scan that was received, admitted or refused. It is never changed, except that a later scan of the same device, or an earlier one
-- of another device, can change its outcome. The hash covers all scans of the device before it.
create table scans (
  shard_id integer not null,
  device_id integer not null,
  counter bigint not null,
  event_id integer not null,
  hash bytea not null,
  previous_hash bytea not null,
  gate_id integer not null,
  -- Of the gate. Null: the event has no such gate.
  area varchar(64),
  -- The registration. Null: unknown.
  serial bigint,
  direction text not null,
  of_counter bigint,
  -- By the device's clock, and corrected.
  scanned_at timestamptz not null,
  at timestamptz not null,
  received_at timestamptz not null default now(),
  decision text,
  outcome text not null,
  -- The signature of the call and what it covers, with the last scan of the call.
  signature bytea,
  sent_at text,
  primary key (shard_id, device_id, counter)
);
-- The shard is the last column of these indexes. On an empty table, the planner takes every index that starts with the shard for equally
-- good, and would keep a plan that reads all rows of the shard.
create index scans_out on scans (serial, shard_id) where direction = 'out';
create index scans_of on scans (device_id, of_counter, shard_id) where of_counter is not null;
create index scans_refused on scans (event_id, shard_id) where outcome not in ('admitted', 'exited', 'undone', 'superseded');

-- A person was let in. The serial is of the registrations' sequence, so that the journal can list both.
create table admissions (
  shard_id integer not null,
  serial bigint not null default nextval('registrations_serial_seq'),
  event_id integer not null,
  partner_id integer not null,
  registration bigint not null,
  area varchar(64) not null,
  gate_id integer not null,
  device_id integer not null,
  counter bigint not null,
  at timestamptz not null,
  -- While it is true, the pass is not admitted again in this area.
  is_open boolean not null,
  left_at timestamptz,
  undone_at timestamptz,
  -- The admission that was before this one: a conflict.
  again_of bigint,
  -- Whether the journal lists it as a conflict, even if it is none by now.
  is_known_conflict boolean not null default false,
  primary key (shard_id, serial)
);
create unique index no_pass_is_admitted_twice on admissions (registration, area, shard_id) where is_open;
create index admissions_registration on admissions (registration, shard_id);
create index admissions_event on admissions (event_id, gate_id, shard_id);
create index admissions_scan on admissions (device_id, counter, shard_id);
