import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Where events live, with everything about them. One Postgres has one shard.
  await sql`
    create table shards (
      id integer primary key,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`insert into shards (id) values (0)`.execute(db);
  await sql`alter table events add shard_id integer not null default 0 references shards`.execute(db);
  await sql`create index events_shard on events (shard_id)`.execute(db);

  // A partner's share where partners compete for seats, relative to others'.
  await sql`
    alter table partners add weight integer not null default 1 check (weight between 1 and 100)`.execute(db);

  // When keys were last used, to the hour. Apart from the keys: in a cluster those are on every server, and a write to them waits
  // for each. Without a foreign key it stays on the coordinator.
  await sql`
    create table secret_key_uses (
      key_id text primary key,
      hour timestamptz not null
    )`.execute(db);
}
