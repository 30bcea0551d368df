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

  // Notes the hour of keys' last use. It runs as the owner: in a cluster nobody may write to a table of the directory who may
  // not write to all of it. A key that somebody else is just changing is left for the next time.
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  await sql`
    create function note_key_use(key_ids text[]) returns void
    language plpgsql security definer set search_path = ${sql.id(rows[0]!.schema)}, pg_temp as $$
    begin
      update secret_keys set last_used_at = date_trunc('hour', now())
      where key_id in (
        select key_id from secret_keys
        where key_id = any(key_ids) and coalesce(last_used_at < date_trunc('hour', now()), true)
        for no key update skip locked
      );
    end $$`.execute(db);
  await sql`revoke all on function note_key_use from public`.execute(db);
}
