import { sql, type RawBuilder } from 'kysely';
import {
  addUp,
  askShards,
  inCamelCase,
  shardIds,
  type ConsumerKind,
  type ConsumerState,
  type Database,
} from '@floodgate/database';
import type { Consumer } from './consumers.ts';

/** Backlog of the consumers of a kind. */
export interface Lag {
  consumers: number;
  /** Consumers with undelivered entries, including entries that are retried. */
  behind: number;
  /** Consumers whose last attempt failed. */
  failing: number;
  disabled: number;
  /**
   * Age of the oldest undelivered entry of active consumers that was not tried yet; null if there is none.
   */
  oldestMs: number | null;
  /**
   * Longest time for which an active consumer has failed to deliver its next entry; null if none fails. Of
   * e-mails: since the first attempt.
   */
  oldestRetryMs: number | null;
}

export type Lags = Partial<Record<ConsumerKind, Lag>> & { shardsAway?: number[] };

const ageMs = (since: RawBuilder<unknown>) => sql`(extract(epoch from now() - ${since}) * 1000)::float8`;

/**
 * SQL for the time of the oldest entry that a consumer has not read; null if there is none. It looks up each
 * partner in the index, so its cost does not depend on the length of the journal.
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

/**
 * SQL for the age of the oldest entry that a row of `journal_consumers` has not read, in milliseconds; null
 * if there is none.
 */
export const unreadMsOf = (shardId: number, consumer: string) => {
  const column = (name: string) => sql.ref(`${consumer}.${name}`);
  return ageMs(oldestUnread(shardId, column('event_id'), column('partner_id'), column('last_offset')));
};

/**
 * Returns the age of the oldest entry that a consumer has not read, in milliseconds; null if there is none.
 */
export async function lagOf(
  db: Database,
  { shardId, eventId, partnerId, cursor }: Pick<Consumer, 'shardId' | 'eventId' | 'partnerId' | 'cursor'>,
): Promise<number | null> {
  const { rows } = await sql<{ lag: number | null }>`
    select ${ageMs(oldestUnread(shardId, eventId, partnerId, cursor))} as lag`.execute(db);
  return rows[0]!.lag;
}

/**
 * Returns the backlog by kind of consumer. Kinds without consumers are missing. With `offset 0`, Postgres
 * reads the journal once for each consumer that is behind. Queued e-mails count as unread. Retried e-mails
 * have a separate age.
 */
export async function readLags(db: Database): Promise<Lags> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    // Without a delivery process, nothing else scans for news.
    await sql`select find_news(${shardId}, null)`.execute(db);
    const unread = oldestUnread(shardId, sql`c.event_id`, sql`c.partner_id`, sql`c.last_offset`);
    // The person who pauses a consumer knows that it falls behind.
    const ofActive = sql`filter (where state = 'active')`;
    const untriedSince = sql`least(case when failures = 0 then unread end, untried)`;
    const failingSince = sql`least(case when failures > 0 and unread is not null then failing_since end, retried)`;
    const { rows } = await sql<Lag & { kind: ConsumerKind }>`
      select kind, count(*)::integer as consumers, count(coalesce(unread, untried, retried))::integer as behind,
        count(*) filter (where is_active and failures > 0)::integer as failing,
        count(*) filter (where not is_active)::integer as disabled,
        ${ageMs(sql`min(${untriedSince}) ${ofActive}`)} as "oldestMs",
        ${ageMs(sql`min(${failingSince}) ${ofActive}`)} as "oldestRetryMs"
      from journal_consumers c
      cross join lateral (select state <> 'disabled' as is_active) _
      cross join lateral (select case when is_active and is_behind then ${unread} end as unread offset 0) journal
      cross join lateral (
        select min(created_at) filter (where attempts = 0) as untried,
          min(coalesce(failing_since, created_at)) filter (where attempts > 0) as retried
        from deliveries
        where is_active and c.kind = 'mail' and deliveries.shard_id = ${shardId}
          and deliveries.event_id = c.event_id
          and deliveries.kind in ('confirmation', 'event-updated', 'waiting-offer', 'cancellation')
          and deliveries.state in ('queued', 'retry', 'sending')
      ) queued
      where shard_id = ${shardId} group by kind`.execute(db);
    return rows;
  });
  const lags: Lags = {};
  for (const { kind, ...lag } of answers.flat()) lags[kind] = lags[kind] ? addUp(lags[kind], lag) : lag;
  return { ...lags, ...(away.length > 0 && { shardsAway: away }) };
}

/** A consumer whose last attempt failed, or that is disabled. */
export interface FailingConsumer {
  id: string;
  kind: ConsumerKind;
  eventId: number;
  /** 0: it reads the entries of all partners. */
  partnerId: number;
  state: ConsumerState;
  failures: number;
  failingSince: Date | null;
}

/**
 * Returns the consumers that fail or are disabled, in the shards that answer, the oldest failure first.
 * `events`: those of these events only.
 */
export async function listFailingConsumers(db: Database, limit: number, events?: readonly number[]) {
  const { answers } = await askShards(await shardIds(db), (shardId) =>
    inCamelCase(db)
      .selectFrom('journalConsumers')
      .select(['id', 'kind', 'eventId', 'partnerId', 'state', 'failures', 'failingSince'])
      .where((where) =>
        where.and([
          where('shardId', '=', shardId),
          where.or([where('failures', '>', 0), where('state', '=', 'disabled')]),
          ...(events ? [where('eventId', 'in', events.length > 0 ? [...events] : [0])] : []),
        ]),
      )
      .orderBy(sql`failing_since nulls last`)
      .limit(limit)
      .execute(),
  );
  const since = ({ failingSince }: FailingConsumer) => failingSince?.getTime() ?? Infinity;
  return answers
    .flat<FailingConsumer[][]>()
    .sort((one, other) => (since(one) < since(other) ? -1 : 1))
    .slice(0, limit);
}
