import { sql, type RawBuilder } from 'kysely';
import { addUp, askShards, shardIds, type ConsumerKind, type Database } from '@floodgate/database';

/** How far the consumers of a kind are behind. Includes those that wait, are throttled or paused. */
export interface Lag {
  consumers: number;
  /** Consumers with something to deliver, for the first time or again. */
  behind: number;
  /** Consumers whose last attempt failed. */
  failing: number;
  disabled: number;
  /** Age of the oldest undelivered entry of consumers that are not disabled; null if there is none. */
  oldestMs: number | null;
  /** Age of the oldest e-mail that was refused and is retried. It does not count in `oldestMs`. */
  oldestRetryMs: number | null;
}

export type Lags = Partial<Record<ConsumerKind, Lag>> & { shardsAway?: number[] };

const ageMs = (since: RawBuilder<unknown>) => sql`(extract(epoch from now() - ${since}) * 1000)::float8`;

/**
 * When the oldest entry was written that a consumer has not read; null: there is none. Goes from partner to partner, so its cost does not
 * depend on the length of the journal.
 */
const oldestUnread = (shardId: number, event: unknown, partner: unknown, cursor: unknown) => sql`(
  with recursive reader (id) as (
    select 0
    union all
    select case when ${partner} <> 0 then nullif(${partner}, id) else (
      select min(partner_id) from journal_segments
      where shard_id = ${shardId} and event_id = ${event} and partner_id > reader.id
    ) end
    from reader where id is not null
  )
  select min(first.at)
  from reader cross join lateral (
    select at from journal_segments
    where shard_id = ${shardId}
      and (event_id, partner_id, last_offset) > (${event}, reader.id, ${cursor})
      and (event_id, partner_id, last_offset) < (${event}, reader.id + 1, 0)
    order by event_id, partner_id, last_offset limit 1
  ) first
  where reader.id is not null
)`;

/** Returns how far one consumer is behind; null if it is not. */
export async function lagOf(
  db: Database,
  { shardId, eventId, partnerId, cursor }: Record<'shardId' | 'eventId' | 'partnerId' | 'cursor', number>,
): Promise<number | null> {
  const { rows } = await sql<{ lag: number | null }>`
    select ${ageMs(oldestUnread(shardId, eventId, partnerId, cursor))} as lag`.execute(db);
  return rows[0]!.lag;
}

const column = (name: string) => sql.ref(`consumer.${name}`);

/**
 * Returns how far consumers are behind, by kind. Kinds without consumers are missing. The journal is read once for each that is behind
 * (offset 0). Queued e-mails count as unread, and those that are retried have an age of their own.
 */
export async function readLags(db: Database): Promise<Lags> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    // Without a delivery process nobody else scans.
    await sql`select find_news(${shardId}, null)`.execute(db);
    const unread = oldestUnread(shardId, column('event_id'), column('partner_id'), column('last_offset'));
    const { rows } = await sql<Lag & { kind: ConsumerKind }>`
      select kind, count(*)::integer as consumers, count(coalesce(unread, untried, retried))::integer as behind,
        count(*) filter (where is_active and failures > 0)::integer as failing,
        count(*) filter (where not is_active)::integer as disabled,
        ${ageMs(sql`min(least(unread, untried))`)} as "oldestMs", ${ageMs(sql`min(retried)`)} as "oldestRetryMs"
      from journal_consumers consumer
      cross join lateral (select state <> 'disabled' as is_active) _
      cross join lateral (select case when is_active and is_behind then ${unread} end as unread offset 0) journal
      cross join lateral (
        select min(created_at) filter (where attempts = 0) as untried,
          min(created_at) filter (where attempts > 0) as retried
        from deliveries
        where is_active and consumer.kind = 'mail' and deliveries.shard_id = ${shardId}
          and deliveries.event_id = consumer.event_id and deliveries.kind in ('confirmation', 'event-updated')
          and deliveries.state in ('queued', 'retry', 'sending')
      ) queued
      where shard_id = ${shardId} group by kind`.execute(db);
    return rows;
  });
  const lags: Lags = {};
  for (const { kind, ...lag } of answers.flat()) lags[kind] = lags[kind] ? addUp(lags[kind], lag) : lag;
  return { ...lags, ...(away.length > 0 && { shardsAway: away }) };
}
