import { sql } from 'kysely';
import { askShards, shardIds, type ConsumerKind, type Database } from '@floodgate/database';

/** How far the consumers of a kind are behind, all that have not ended counted: also those that wait, are slowed down or paused. */
export interface Lag {
  consumers: number;
  /** How many of them have something to deliver, for the first time or again. */
  behind: number;
  /** How many failed with their last attempt, and how many the service has given up. */
  failing: number;
  disabled: number;
  /** Age of the oldest that was not delivered, of those who are not disabled; null: there is none. */
  oldestMs: number | null;
  /** Age of the oldest e-mail that was refused for now and is tried again. It does not count in `oldestMs`. */
  oldestRetryMs: number | null;
}

export type Lags = Partial<Record<ConsumerKind, Lag>> & { shardsAway?: number[] };

interface ConsumerLag extends Pick<Lag, 'oldestMs' | 'oldestRetryMs'> {
  id: string;
  kind: ConsumerKind;
  state: string;
  failures: number;
}

/** How far one consumer is behind; null: not at all. */
export async function lagOf(
  db: Database,
  { shardId, id }: { shardId: number; id: string },
): Promise<number | null> {
  const all = await readShardLags(db, shardId);
  return all.find((one) => one.id === id)?.oldestMs ?? null;
}

/** Returns how far consumers are behind, by kind. Kinds that nobody uses are missing. */
export async function readLags(db: Database): Promise<Lags> {
  const { answers, away } = await askShards(await shardIds(db), (shardId) => readShardLags(db, shardId));
  const lags = Object.fromEntries(
    [...Map.groupBy(answers.flat(), ({ kind }) => kind)].map(([kind, all]) => [kind, sumUp(all)]),
  );
  return { ...lags, ...(away.length > 0 && { shardsAway: away }) };
}

function sumUp(all: readonly ConsumerLag[]): Lag {
  const enabled = all.filter(({ state }) => state !== 'disabled');
  const oldest = (ages: (number | null)[]) =>
    ages.reduce((a, b) => (a === null || (b ?? 0) > a ? b : a), null);
  return {
    consumers: all.length,
    behind: enabled.filter(({ oldestMs, oldestRetryMs }) => (oldestMs ?? oldestRetryMs) !== null).length,
    failing: enabled.filter(({ failures }) => failures > 0).length,
    disabled: all.length - enabled.length,
    oldestMs: oldest(enabled.map(({ oldestMs }) => oldestMs)),
    oldestRetryMs: oldest(enabled.map(({ oldestRetryMs }) => oldestRetryMs)),
  };
}

/** Returns how far each consumer of a shard is behind. */
export async function readShardLags(db: Database, shardId: number): Promise<ConsumerLag[]> {
  const { rows } = await sql<{ lags: ConsumerLag[] }>`select consumer_lags(${shardId}) as lags`.execute(db);
  return rows[0]!.lags;
}
