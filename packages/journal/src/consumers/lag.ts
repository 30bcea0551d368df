import { sql } from 'kysely';
import { askShards, shardIds, type ConsumerKind, type Database } from '@floodgate/database';

/**
 * How far the consumers of a kind are behind, all that have not ended counted: also those that wait, are slowed down or paused, and
 * e-mails that were refused for now.
 */
export interface Lag {
  consumers: number;
  /** How many of them have something to deliver. */
  behind: number;
  /** How many failed with their last attempt, and how many the service has given up. */
  failing: number;
  disabled: number;
  /** Age of the oldest that was not delivered, of those who are not disabled; null: there is none. */
  oldestMs: number | null;
}

export type Lags = Partial<Record<ConsumerKind, Lag>> & { shardsAway?: number[] };

interface ConsumerLag {
  kind: ConsumerKind;
  state: string;
  failures: number;
  oldestMs: number | null;
}

/** How far one consumer is behind; null: not at all. */
export async function lagOf(
  db: Database,
  { shardId, id }: { shardId: number; id: string },
): Promise<number | null> {
  const all = await readShard(db, shardId);
  return all.find((one) => one.id === id)?.oldestMs ?? null;
}

/** Returns how far consumers are behind, by kind. Kinds that nobody uses are missing. */
export async function readLags(db: Database): Promise<Lags> {
  const { answers, away } = await askShards(await shardIds(db), (shardId) => readShard(db, shardId));
  const lags = Object.fromEntries(
    [...Map.groupBy(answers.flat(), ({ kind }) => kind)].map(([kind, all]) => [kind, sumUp(all)]),
  );
  return { ...lags, ...(away.length > 0 && { shardsAway: away }) };
}

function sumUp(all: readonly ConsumerLag[]): Lag {
  const enabled = all.filter(({ state }) => state !== 'disabled');
  const ages = enabled.flatMap(({ oldestMs }) => oldestMs ?? []);
  return {
    consumers: all.length,
    behind: ages.length,
    failing: enabled.filter(({ failures }) => failures > 0).length,
    disabled: all.length - enabled.length,
    oldestMs: ages.length === 0 ? null : Math.max(...ages),
  };
}

async function readShard(db: Database, shardId: number): Promise<(ConsumerLag & { id: string })[]> {
  const { rows } = await sql<{ lags: (ConsumerLag & { id: string })[] }>`
    select consumer_lags(${shardId}) as lags`.execute(db);
  return rows[0]!.lags;
}
