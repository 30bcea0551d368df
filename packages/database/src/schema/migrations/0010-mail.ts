import { sql, type Kysely } from 'kysely';

/** What became of e-mails to attendees. Which are sent, the journal says. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One row per registration at most, so one e-mail at most. Doubtful: it may have been sent before, by an attempt of which nobody
  // knows the end. Since: when the registration was confirmed. No foreign keys: a row is written for each e-mail.
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
      since timestamptz not null,
      at timestamptz not null default now(),
      primary key (shard_id, event_id, serial)
    )`.execute(db);
  await sql`
    create index mail_deliveries_due on mail_deliveries (shard_id, next_at) where state = 'retry'`.execute(
    db,
  );
  await sql`
    create index mail_deliveries_oldest on mail_deliveries (shard_id, event_id, since) where state = 'retry'`.execute(
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

  // How far each consumer of a shard is behind: by what it has not read, and by e-mails that were refused for now.
  await sql`
    create function consumer_lags(shard integer) returns json
    language plpgsql stable as $$
    declare
      one record;
      oldest timestamptz;
      lags json[] := '{}';
    begin
      for one in
        select id, kind, event_id, partner_id, last_offset, state, failures from journal_consumers where shard_id = shard
      loop
        oldest := oldest_news(shard, one.event_id, one.partner_id, one.last_offset);
        if one.kind = 'mail' then
          oldest := least(oldest, (
            select min(since) from mail_deliveries where shard_id = shard and event_id = one.event_id and state = 'retry'
          ));
        end if;
        lags := lags || json_build_object('id', one.id, 'kind', one.kind, 'state', one.state, 'failures', one.failures,
          'oldestMs', extract(epoch from now() - oldest) * 1000);
      end loop;
      return array_to_json(lags);
    end $$`.execute(db);
}
