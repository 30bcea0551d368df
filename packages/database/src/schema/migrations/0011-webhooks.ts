import { sql, type Kysely } from 'kysely';

/** Partners' webhooks: where their messages go, what they are signed with, and what became of each attempt. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The id is that of its consumer, which knows how far it has come. "chain_offset" is the cursor of the last message that was
  // delivered: the next one names it. What nobody asked for may lie between that and where the consumer is.
  await sql`
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
      test_message text,
      created_at timestamptz not null default now(),
      primary key (shard_id, id)
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    create index webhook_endpoints_of_event on webhook_endpoints (shard_id, event_id, partner_id)`.execute(
    db,
  );
  await sql`
    create index webhook_endpoints_to_test on webhook_endpoints (shard_id) where test_message is not null`.execute(
    db,
  );

  // Each with a key of both kinds. The current one has no end.
  await sql`
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
    )`.execute(db);

  await sql`
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
    )`.execute(db);

  // Notes that a message was delivered, and what is under way from now on: one commit for each message of a steady stream.
  // Returns whether its reader may go on: not if it has lost the lease, or was paused.
  await sql`
    create function webhook_delivered(
      shard integer, endpoint uuid, by_lease uuid, lease_for interval, message text, start bigint, finish bigint,
      entry_count integer, took integer, status integer, next_until bigint
    ) returns boolean language plpgsql as $$
    begin
      insert into webhook_attempts
        (shard_id, endpoint_id, at, id, message_id, after_offset, last_offset, entries, took_ms, outcome, http_status)
      values (shard, endpoint, now(), gen_random_uuid(), message, start, finish, entry_count, took, 'delivered', status);
      update journal_consumers
      set last_offset = finish, until = next_until, failures = 0, failing_since = null, leased_until = now() + lease_for
      where shard_id = shard and id = endpoint and lease = by_lease and state = 'active';
      if not found then
        return false;
      end if;
      update webhook_endpoints set chain_offset = finish where shard_id = shard and id = endpoint;
      return true;
    end $$`.execute(db);
}
