import { sql, type Kysely } from 'kysely';

/** E-mails that were refused for now have an age apart from those that nobody has tried. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Attempts 0: the server has refused all that was sent, so it has not judged this e-mail. A reader of e-mails that is disabled
  // was switched off while it was sending. It stays until nobody looks for it any more, and is behind with nothing.
  await sql`
    create or replace function consumer_lags(shard integer) returns json
    language plpgsql stable as $$
    declare
      one record;
      oldest timestamptz;
      untried timestamptz;
      retried timestamptz;
      lags json[] := '{}';
    begin
      for one in
        select id, kind, event_id, partner_id, last_offset, state, failures from journal_consumers
        where shard_id = shard and not (kind = 'mail' and state = 'disabled')
      loop
        oldest := oldest_news(shard, one.event_id, one.partner_id, one.last_offset);
        untried := null;
        retried := null;
        if one.kind = 'mail' then
          select min(since) filter (where attempts = 0), min(since) filter (where attempts > 0) into untried, retried
          from mail_deliveries where shard_id = shard and event_id = one.event_id and mail_deliveries.state = 'retry';
        end if;
        lags := lags || json_build_object('id', one.id, 'kind', one.kind, 'state', one.state, 'failures', one.failures,
          'oldestMs', extract(epoch from now() - least(oldest, untried)) * 1000,
          'oldestRetryMs', extract(epoch from now() - retried) * 1000);
      end loop;
      return array_to_json(lags);
    end $$`.execute(db);
}
