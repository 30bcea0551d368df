import { sql, type Kysely } from 'kysely';

/** What became of e-mails to attendees. Which are sent, the journal says. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One row per registration at most, so one e-mail at most. Doubtful: it may have been sent before, by an attempt of which nobody
  // knows the end. No foreign keys: a row is written for each e-mail.
  await sql`
    create table mail_deliveries (
      shard_id integer not null,
      event_id integer not null,
      serial bigint not null,
      state text not null,
      reason text,
      attempts integer not null,
      doubtful boolean not null,
      next_at timestamptz,
      at timestamptz not null default now(),
      primary key (shard_id, event_id, serial)
    )`.execute(db);
  await sql`
    create index mail_deliveries_due on mail_deliveries (shard_id, next_at) where state = 'retry'`.execute(
    db,
  );

  // Addresses that were refused for good, by the SHA-256 of each.
  await sql`
    create table mail_suppressions (
      digest text primary key,
      reason text not null,
      event_id integer not null,
      at timestamptz not null default now()
    )`.execute(db);

  // As rate_limit_windows: losing it costs a second.
  await sql`
    create unlogged table mail_rate_windows (
      sender_id integer primary key,
      epoch_second bigint not null,
      drawn integer not null
    ) with (fillfactor = 50)`.execute(db);
}
