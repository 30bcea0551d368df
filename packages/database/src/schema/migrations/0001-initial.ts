import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table partners (
      id integer generated always as identity primary key,
      name text not null unique check (length(name) between 1 and 255),
      requests_per_second integer check (requests_per_second between 1 and 1000000),
      created_at timestamptz not null default now()
    )`.execute(db);

  // What limited partners have drawn of the current second. Unlogged: a crash may forget it, and no draw waits for an
  // fsync. Updated in place again and again, so the pages keep room.
  await sql`
    create unlogged table rate_limit_windows (
      partner_id integer primary key references partners,
      epoch_second bigint not null,
      drawn integer not null
    ) with (fillfactor = 50)`.execute(db);

  await sql`
    create table secret_keys (
      key_id text primary key,
      partner_id integer not null references partners,
      secret_hash bytea not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz
    )`.execute(db);
  await sql`create index secret_keys_partner on secret_keys (partner_id)`.execute(db);

  await sql`
    create table events (
      id integer generated always as identity (start with 1001) primary key,
      ref uuid not null unique default gen_random_uuid(),
      name text not null check (length(name) between 1 and 255),
      pass_prefix text not null check (pass_prefix ~ '^[A-Z][A-Z0-9]{1,7}$'),
      duplicate_policy text not null default 'allow' check (duplicate_policy in ('allow', 'reject')),
      created_at timestamptz not null default now()
    )`.execute(db);

  await sql`
    create table event_grants (
      partner_id integer not null references partners,
      event_id integer not null references events,
      created_at timestamptz not null default now(),
      primary key (partner_id, event_id)
    )`.execute(db);

  // Postgres parses a table's check constraints anew in every statement that writes to it, which a batch would notice.
  // So what every batch writes to has none but those that guard the seats and the books: types do the rest.
  await sql`create domain ticket_title as varchar(255) check (length(value) > 0)`.execute(db);
  await sql`create domain ticket_price as numeric(12, 2) check (value >= 0)`.execute(db);
  await sql`create type batch_state as enum ('pending', 'confirmed', 'failed', 'void')`.execute(db);

  // "taken" is updated by every batch. It is in no index and the pages keep room, so that each update
  // stays on its page (HOT). The last check makes an oversell impossible, whoever writes the SQL.
  await sql`
    create table tickets (
      id integer generated always as identity primary key,
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
      created_by integer not null default 0,
      last_modified_at timestamptz not null default now(),
      last_modified_by text not null,
      constraint sales_window_is_ordered check (sale_starts_at < sale_ends_at),
      constraint no_seat_is_sold_twice check (taken between 0 and capacity)
    ) with (fillfactor = 50)`.execute(db);
  await sql`create index tickets_event on tickets (event_id)`.execute(db);

  // The outbox: a batch that is pending still has to be finalized. A void one keeps its id from ever being used.
  await sql`
    create table batches (
      id uuid primary key,
      state batch_state not null default 'pending',
      size integer not null,
      first_serial bigint not null,
      last_serial bigint not null,
      created_at timestamptz not null default now(),
      pending_since timestamptz not null default now(),
      finished_at timestamptz,
      relay_at timestamptz not null,
      enqueues integer not null default 1,
      failure text,
      constraint only_void_batches_are_empty check ((size = 0) = (state = 'void'))
    )`.execute(db);
  await sql`create index batches_pending on batches (relay_at) where state = 'pending'`.execute(db);
  await sql`create index batches_failed on batches (created_at) where state = 'failed'`.execute(db);

  // Rows come only from the batch statement, which has locked the ticket: foreign keys would check once
  // more, row by row, what is already known, at about the price of the insert itself.
  // The lengths stand behind those of the API. Four times as long, which is what a character may have in bytes: a
  // database whose encoding is not UTF-8 counts those.
  // No index on the pass reference: it is found by its serial. None on the batch: it knows its serials.
  await sql`
    create table registrations (
      serial bigint generated always as identity primary key,
      batch_id uuid not null,
      reserved_at timestamptz not null default now(),
      cancelled_at timestamptz,
      pass_code bigint not null,
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
      extra_data_2 varchar(4000)
    )`.execute(db);
  // Empty but for events that reject duplicates: the others pay nothing for it.
  await sql`
    create unique index registrations_one_per_attendee on registrations (event_id, attendee_digest)
    where attendee_digest is not null and cancelled_at is null`.execute(db);

  await sql`
    create table idempotency_keys (
      partner_id integer not null,
      event_id integer not null,
      key text not null,
      fingerprint uuid not null,
      outcome text not null,
      serial bigint,
      created_at timestamptz not null default now(),
      primary key (partner_id, event_id, key)
    )`.execute(db);
  await sql`create index idempotency_keys_created_at on idempotency_keys (created_at)`.execute(db);
}
