import type { Database } from '../connection/connect.ts';
import { ConnectionFailed, isShardAway } from '../connection/failures.ts';
import { readThroughCache } from './read-through-cache.ts';

const REMEMBERED_MS = 10_000;

// In a cluster, one node can be down while the others answer. Work on all shards continues on those that
// answer.

/** Returns the ids of all shards. */
export async function shardIds(db: Database) {
  const shards = await db.selectFrom('shards').select('id').orderBy('id').execute();
  return shards.map(({ id }) => id);
}

/**
 * Returns a function that reads the ids of all shards, from Postgres at most every ten seconds. It saves each
 * poll a statement.
 */
export function rememberShards(db: Database) {
  const cache = readThroughCache<'ids', number[]>(() => shardIds(db), REMEMBERED_MS);
  return () => cache.forceFetch('ids');
}

/**
 * Runs `work` in one shard after another and continues after failures. Throws if no connection is available.
 */
async function tryShards<Answer>(shards: readonly number[], work: (shardId: number) => Promise<Answer>) {
  const answers: Answer[] = [];
  const failures: { shardId: number; error: unknown }[] = [];
  for (const shardId of shards) {
    try {
      answers.push(await work(shardId));
    } catch (error) {
      if (error instanceof ConnectionFailed) throw error;
      failures.push({ shardId, error });
    }
  }
  return { answers, failures };
}

/**
 * Runs `work` in each shard, one after another. Returns `more` if it resolved to true in one. Throws the
 * first failure, after all shards.
 */
export async function inEachShard(
  db: Database,
  work: (shardId: number) => Promise<unknown>,
  shards = () => shardIds(db),
) {
  const { answers, failures } = await tryShards(await shards(), work);
  if (failures[0]) throw failures[0].error;
  return answers.includes(true) ? 'more' : 'done';
}

/**
 * Reads from one shard after another. Returns the answers, in order, and the ids of shards that are down.
 * Throws if no shard answers, or if one fails for another reason.
 */
export async function askShards<Answer>(
  shards: readonly number[],
  ask: (shardId: number) => Promise<Answer>,
) {
  const { answers, failures } = await tryShards(shards, ask);
  const failure = failures.find(({ error }) => answers.length === 0 || !isShardAway(error));
  if (failure) throw failure.error;
  return { answers, away: failures.map(({ shardId }) => shardId) };
}

/** Returns the shards that are down as a text for operators. */
export const awayText = (away: readonly number[]) =>
  `${away.length === 1 ? 'this shard does' : 'these shards do'} not answer: ${away.join(', ')}`;

/**
 * Combines the figures of two shards: adds counts, and keeps the greater of two ages (`…Ms`, null: nothing
 * waits).
 */
export function addUp<Figures extends { [Name in keyof Figures]: number | null }>(
  figures: Figures,
  more: Figures,
): Figures {
  const sums = Object.entries<number | null>(figures).map(([name, figure]) => {
    const added = more[name as keyof Figures];
    if (figure === null || added === null) return [name, figure ?? added];
    return [name, name.endsWith('Ms') ? Math.max(figure, added) : figure + added];
  });
  return Object.fromEntries(sums) as Figures;
}
