-- Files in this folder run once, in order, and never change after a release.
--
-- Every table of an event starts with shard_id, and so do its keys. On a Citus cluster, "floodgate migrate" distributes
-- these tables by shard_id and copies the small ones (partners, keys, events) to every server.

-- ---------------------------------------------------------------------------------------------------------------------
-- Partners and their keys

create table partners (
  id integer generated always as identity primary key,
  name text not null unique check (length(name) between 1 and 255),
  requests_per_second integer check (requests_per_second between 1 and 1000000),
  -- The share of a partner when partners compete for seats, relative to other partners.
  weight integer not null default 1 check (weight between 1 and 100),
  contact_email text,
  created_at timestamptz not null default now()
);

create table secret_keys (
  key_id text primary key,
  partner_id integer not null references partners,
  secret_hash bytea not null,
  mode text not null default 'live' check (mode in ('live', 'test')),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index secret_keys_partner on secret_keys (partner_id);

-- The hour in which each key was last used. This table is separate from secret_keys, which a cluster copies to every
-- server: a write there waits for all of them. It has no foreign key, so it stays on the coordinator.
create table secret_key_uses (
  key_id text primary key,
  hour timestamptz not null
);

-- The permits of the current second that processes have drawn, per limited partner. Unlogged: a crash can lose a
-- second, and no update waits for an fsync. Rows are updated in place all the time, so the pages keep free space. No
-- foreign key: see secret_key_uses.
create unlogged table rate_limit_windows (
  id integer primary key,
  epoch_second bigint not null,
  drawn integer not null
) with (fillfactor = 50);

-- ---------------------------------------------------------------------------------------------------------------------
-- Events and tickets

-- An event is in one shard with all its data. One Postgres has one shard.
create table shards (
  id integer primary key
);
insert into shards (id) values (0);

create table events (
  id integer generated always as identity (start with 1001) primary key,
  ref uuid not null unique default gen_random_uuid(),
  shard_id integer not null default 0 references shards,
  name text not null check (length(name) between 1 and 255),
  pass_prefix text not null check (pass_prefix ~ '^[A-Z][A-Z0-9]{1,7}$'),
  mode text not null default 'live' check (mode in ('live', 'test')),
  duplicate_policy text not null default 'allow' check (duplicate_policy in ('allow', 'reject', 'return_existing')),
  duplicate_scope text not null default 'event' check (duplicate_scope in ('event', 'ticket')),
  -- Null: registrations can be cancelled at any time.
  cancel_until timestamptz,
  starts_at timestamptz,
  ends_at timestamptz,
  venue text,
  time_zone text,
  language text not null default 'en',
  reply_to text,
  -- Rises with every change of the event. Doors and calendars use it to recognize the newest version.
  revision integer not null default 1,
  created_at timestamptz not null default now()
);
create index events_shard on events (shard_id);

create table event_grants (
  partner_id integer not null references partners,
  event_id integer not null references events,
  primary key (partner_id, event_id)
);

-- The newest key that is not retired signs. A retired key is still published, so that the passes it signed stay valid,
-- until it is withdrawn. A private key of Ed25519 is any 32 bytes, here behind the head of PKCS #8. Two UUIDs have 244 random bits.
create table pass_keys (
  id integer primary key,
  private_key bytea not null default
    '\x302e020100300506032b657004220420' || sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  withdrawn_at timestamptz
);
insert into pass_keys (id) values (1);

-- Postgres parses the check constraints of a table in every statement that writes to it, which is measurable for a
-- batch. So the tables that every batch writes to have only the constraints that protect the seats. Types do the rest.
create domain ticket_title as varchar(255) check (length(value) > 0);
create domain ticket_price as numeric(12, 2) check (value >= 0);

-- A sequence and not an identity: Citus requires that an identity is a bigint.
create sequence ticket_ids as integer;

-- Every batch updates "taken". No index contains it and the pages keep free space, so each update stays on its page
-- (HOT). The last check makes overselling impossible, whatever a statement does.
create table tickets (
  shard_id integer not null default 0,
  id integer not null default nextval('ticket_ids'),
  event_id integer not null references events,
  title ticket_title not null,
  price ticket_price not null default 0,
  benefits text not null default '',
  active boolean not null default true,
  capacity integer not null,
  taken integer not null default 0,
  sale_starts_at timestamptz,
  sale_ends_at timestamptz,
  created_at timestamptz not null default now(),
  last_modified_at timestamptz not null default now(),
  last_modified_by text not null,
  primary key (shard_id, id),
  constraint sales_window_is_ordered check (sale_starts_at < sale_ends_at),
  constraint no_seat_is_sold_twice check (taken between 0 and capacity)
) with (fillfactor = 50);
create index tickets_event on tickets (event_id);

-- ---------------------------------------------------------------------------------------------------------------------
-- Registrations

create type batch_state as enum ('pending', 'confirmed', 'failed');

-- The outbox: a pending batch still has to be finalized. Until then a batch lists the events, partners and serials of
-- its registrations, unless there is only one event or partner, or the serials have no gaps.
create table batches (
  shard_id integer not null default 0,
  id uuid not null,
  state batch_state not null default 'pending',
  size integer not null,
  first_serial bigint not null,
  last_serial bigint not null,
  event_id integer,
  partner_id integer,
  events integer[],
  partners integer[],
  serials bigint[],
  created_at timestamptz not null default now(),
  pending_since timestamptz not null default now(),
  finished_at timestamptz,
  relay_at timestamptz not null,
  enqueues integer not null default 1,
  failure text,
  -- Where the journal entries of this batch begin. Null: it has none yet.
  journal_offset bigint,
  -- The answer of reserve_batch. Null: everybody got a seat.
  answer json,
  primary key (shard_id, id)
);
create index batches_failed on batches (created_at) where state = 'failed';
create index batches_unwritten on batches (shard_id, relay_at)
  where journal_offset is null and state in ('pending', 'confirmed');

create sequence registrations_serial_seq;

-- Only reserve_batch inserts rows, and it has locked the ticket. Foreign keys would check that again for each row and
-- would cost about as much as the insert itself. The API checks the lengths. These are four times as long because a
-- character can have four bytes, and a SQL_ASCII database counts bytes. There is no index on the pass reference, which
-- contains the serial, and none on the batch, which knows its range of serials.
create table registrations (
  serial bigint not null default nextval('registrations_serial_seq'),
  batch_id uuid not null,
  reserved_at timestamptz not null default now(),
  cancelled_at timestamptz,
  -- 'infinity': the partner has confirmed the hold. Null: never held, or confirmed before its batch was finalized.
  held_until timestamptz,
  pass_code bigint not null,
  shard_id integer not null default 0,
  partner_id integer not null,
  event_id integer not null,
  ticket_id integer not null,
  position smallint not null,
  attendee_digest uuid,
  full_name varchar(1020) not null,
  email_address varchar(254) not null,
  phone_number varchar(32),
  gender varchar(128),
  table_or_seat varchar(256),
  extra_data_1 varchar(4000),
  extra_data_2 varchar(4000),
  primary key (shard_id, serial)
);
-- Partial indexes: a registration without a digest or a hold pays nothing for them.
create unique index registrations_one_per_attendee on registrations (shard_id, event_id, attendee_digest)
  where attendee_digest is not null and cancelled_at is null;
create index registrations_held on registrations (shard_id, held_until)
  where held_until < 'infinity' and cancelled_at is null;
create index registrations_held_by_partner on registrations (shard_id, ticket_id, partner_id)
  where held_until < 'infinity' and cancelled_at is null;

-- Changes that are committed and not published yet: with the pending batches, the outbox. finalize_batches deletes what it
-- publishes. The kind is 'confirmed' or 'cancelled', with the serials of one partner and batch, or 'ticket': its seats may be
-- sold out or free again.
create sequence changes_id_seq;
create table changes (
  shard_id integer not null,
  -- Two changes of one registration have ids in the order of the changes: the second waits for the row lock of the first.
  id bigint not null default nextval('changes_id_seq'),
  at timestamptz not null default now(),
  kind text not null,
  event_id integer,
  partner_id integer,
  batch_id uuid,
  serials bigint[],
  ticket_id integer,
  primary key (shard_id, id)
);

-- The last journal entry of a ticket: 'sold_out' or 'reopened'. No row: none yet. The journal itself is pruned.
create table ticket_states (
  shard_id integer not null,
  ticket_id integer not null,
  kind text not null,
  primary key (shard_id, ticket_id)
);

create table idempotency_keys (
  shard_id integer not null default 0,
  partner_id integer not null,
  event_id integer not null,
  key text not null,
  fingerprint uuid not null,
  -- By position of the call. Outcomes null: all have a seat.
  outcomes text[],
  serials bigint[] not null,
  created_at timestamptz not null default now(),
  primary key (shard_id, partner_id, event_id, key)
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

-- Resets of test events have cancelled every registration up to this offset of the journal.
create table test_resets (
  shard_id integer not null default 0,
  event_id integer not null,
  partner_id integer not null,
  journal_offset bigint not null,
  primary key (shard_id, event_id, partner_id)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- The journal

-- One row per shard. The holder of its lock assigns the next offsets.
create table journal_heads (
  shard_id integer primary key,
  last_offset bigint not null default 0
) with (fillfactor = 50);
insert into journal_heads (shard_id) values (0);

-- A segment has "count" entries of one kind, one event and one partner (0: an entry about a ticket, for every partner).
-- Its entries have the offsets up to last_offset. Serials are listed only if they have gaps.
create table journal_segments (
  shard_id integer not null,
  event_id integer not null,
  partner_id integer not null,
  last_offset bigint not null,
  count integer not null,
  kind text not null,
  ticket_id integer,
  first_serial bigint,
  last_serial bigint,
  serials bigint[],
  at timestamptz not null default now(),
  primary key (shard_id, last_offset)
);
-- The primary key serves readers of a whole shard and the retention. This one serves readers of one partner or one
-- event. A third index would cost each segment more than it saves.
create index journal_segments_of_partner on journal_segments (shard_id, event_id, partner_id, last_offset);

-- A consumer reads the entries of one event: those of one partner and of the tickets, or (partner 0) all. It has
-- delivered all entries up to last_offset. in_flight_until is the end of the range in flight: after a failure the same
-- range is sent again, even if newer entries exist. Only the lease holder reads. Another process can acquire an expired
-- lease.
--
-- news_offset is the last entry for this consumer that a scan has found (find_news). Null: not scanned yet. So idle
-- consumers cost nothing. is_behind is stored because an index on last_offset would make each update of a steady stream
-- write the index too.
create table journal_consumers (
  shard_id integer not null,
  id uuid not null,
  kind text not null,
  event_id integer not null,
  partner_id integer not null,
  last_offset bigint not null default 0,
  in_flight_until bigint,
  news_offset bigint,
  is_behind boolean not null generated always as (coalesce(news_offset > last_offset, true)) stored,
  state text not null default 'active' check (state in ('active', 'paused', 'disabled')),
  failures integer not null default 0,
  failing_since timestamptz,
  next_at timestamptz not null default now(),
  lease uuid,
  leased_until timestamptz,
  primary key (shard_id, id)
) with (fillfactor = 50);
create index journal_consumers_of_event on journal_consumers (shard_id, event_id, partner_id);
create index journal_consumers_behind on journal_consumers (shard_id, kind, next_at) where is_behind and state = 'active';

-- The offset up to which find_news has scanned the journal of each shard. Not in journal_heads, which each finalization
-- locks.
create table consumer_scans (like journal_heads including all) with (fillfactor = 50);
insert into consumer_scans (shard_id) values (0);

-- ---------------------------------------------------------------------------------------------------------------------
-- Deliveries

-- One row per message to one recipient. The picture of the states is in packages/deliveries/src/deliveries.ts. No
-- attendee data: "subject" is the serial of a registration, or the id of a webhook. No foreign keys and no check
-- constraints, because a row is written for each e-mail.
create table deliveries (
  shard_id integer not null,
  event_id integer not null,
  kind text not null,
  subject text not null,
  revision integer not null default 0,
  state text not null default 'queued',
  attempts smallint not null default 0,
  possibly_twice boolean not null default false,
  due_at timestamptz not null default now(),
  lease uuid,
  reason text,
  created_at timestamptz not null default now(),
  tried_at timestamptz,
  sent_at timestamptz,
  primary key (shard_id, event_id, kind, subject)
);
-- Holds unfinished rows only, so leasing costs the same however many rows the table has. While a row is `sending`, its "due_at" is
-- the end of the lease.
create index deliveries_open on deliveries (shard_id, kind, event_id, due_at)
  where state in ('queued', 'retry', 'sending');
-- Rows are inserted in the order of time, so a few index pages are enough to find the old ones.
create index deliveries_age on deliveries using brin (created_at) with (autosummarize = on);

-- Addresses that were refused permanently, by their SHA-256.
create table mail_suppressions (
  digest text primary key,
  reason text not null,
  event_id integer not null,
  at timestamptz not null default now()
);

-- Unlogged like rate_limit_windows: a crash loses a second.
create unlogged table mail_rate_windows (like rate_limit_windows including all) with (fillfactor = 50);

-- ---------------------------------------------------------------------------------------------------------------------
-- Webhooks

-- The id is the id of the journal consumer, which stores the progress. "chain_offset" is the cursor of the last
-- delivered message: the next message contains it. Between it and the offset of the consumer there can be entries that
-- the endpoint did not subscribe to.
create table webhook_endpoints (
  shard_id integer not null,
  id uuid not null,
  event_id integer not null,
  partner_id integer not null,
  url text not null,
  description text not null,
  types text[] not null,
  entry_limit integer not null,
  chain_offset bigint not null,
  replays integer not null default 0,
  disabled_reason text,
  -- 'partner' or 'operator': a partner cannot resume what an operator paused.
  paused_by text,
  test_message text,
  created_at timestamptz not null default now(),
  primary key (shard_id, id)
) with (fillfactor = 50);
create index webhook_endpoints_of_event on webhook_endpoints (shard_id, event_id, partner_id);
create index webhook_endpoints_to_test on webhook_endpoints (shard_id) where test_message is not null;

-- Each row has a key of both kinds (HMAC and Ed25519). The current one has no end.
create table webhook_secrets (
  shard_id integer not null,
  endpoint_id uuid not null,
  id uuid not null,
  secret bytea not null,
  private_key bytea not null,
  public_key bytea not null,
  created_at timestamptz not null default now(),
  ends_at timestamptz,
  primary key (shard_id, endpoint_id, id)
);

-- Attempts to send a message, kept for a limited time. The message has the entries after after_offset, up to
-- last_offset. Null: it was a test. The error is a name and never a message, because messages can contain data.
create table webhook_attempts (
  shard_id integer not null,
  endpoint_id uuid not null,
  at timestamptz not null default now(),
  id uuid not null default gen_random_uuid(),
  message_id text not null,
  after_offset bigint,
  last_offset bigint,
  entries integer not null,
  took_ms integer not null,
  outcome text not null,
  http_status integer,
  error text,
  primary key (shard_id, endpoint_id, at, id)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Operators

-- The service that "floodgate grant" granted to a role, so that "migrate" can grant what a new release needs.
create table service_roles (
  role text primary key,
  service text not null
);

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb
);
-- Append-only: the owner, the role of operators, cannot change or delete a row by mistake or through a fault in this
-- code. It can do so on purpose, because it can grant itself the right again or drop the table. A superuser is not
-- checked at all. For a stronger guarantee, copy the rows to another system.
revoke update, delete, truncate on audit_log from current_user;

-- The changes of partners; the actor is "partner:7". Unlike audit_log it is pruned, because partners decide how many
-- rows there are.
create table partner_audit_log (like audit_log including all);
create index partner_audit_log_of_partner on partner_audit_log (actor, id);
