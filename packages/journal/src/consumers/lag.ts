import { sql } from 'kysely';
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

/** Returns how far one consumer is behind; null if it is not. */
export async function lagOf(
  db: Database,
  of: { shardId: number; eventId: number; partnerId: number; cursor: number },
): Promise<number | null> {
  const { rows } = await sql<{ lag: number | null }>`
    select extract(epoch from now() - oldest_news(${of.shardId}, ${of.eventId}, ${of.partnerId}, ${of.cursor}))::float8 * 1000
      as lag`.execute(db);
  return rows[0]!.lag;
}

/** Returns how far consumers are behind, by kind. Kinds without consumers are missing. */
export async function readLags(db: Database): Promise<Lags> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await sql<{
      lags: (Lag & { kind: ConsumerKind })[];
    }>`select consumer_lags(${shardId}) as lags`.execute(db);
    return rows[0]!.lags;
  });
  const lags: Lags = {};
  for (const { kind, ...lag } of answers.flat()) lags[kind] = lags[kind] ? addUp(lags[kind], lag) : lag;
  return { ...lags, ...(away.length > 0 && { shardsAway: away }) };
}
