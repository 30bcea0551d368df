import type { Database } from '../connection/connect.ts';
import { ConnectionFailed, isShardAway } from '../connection/failures.ts';
import { readThroughCache } from './shared-reads.ts';

// In a cluster one server can be away while the others answer. Work on all shards does what it can.

/** Returns the ids of all shards. */
export async function shardIds(db: Database): Promise<number[]> {
  const shards = await db.selectFrom('shards').select('id').orderBy('id').execute();
  return shards.map(({ id }) => id);
}

const REMEMBERED_MS = 10_000;

/** Returns a reader of the ids of all shards that asks Postgres every ten seconds at most. A poll needs one statement less with it. */
export function rememberShards(db: Database): () => Promise<number[]> {
  const cache = readThroughCache<'ids', number[]>(() => shardIds(db), REMEMBERED_MS);
  return () => cache.forceFetch('ids');
}

/** Does `work` in one shard after the other, also where it fails in some. Throws where Postgres cannot be connected to. */
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

/** Does `work` in each shard, one after the other. Returns `more` if it resolved to true in one. Throws the first failure after the last. */
export async function inEachShard(
  db: Database,
  work: (shardId: number) => Promise<unknown>,
  shards = () => shardIds(db),
): Promise<'more' | 'done'> {
  const { answers, failures } = await tryShards(await shards(), work);
  if (failures[0]) throw failures[0].error;
  return answers.includes(true) ? 'more' : 'done';
}

/**
 * Asks shards one after the other. Returns the answers, in order, and which shards are away. Throws where none of them
 * answers, and what fails for another reason.
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

/** Which shards are away, as an operator reads it. */
export const awayText = (away: readonly number[]) =>
  `${away.length === 1 ? 'this shard does' : 'these shards do'} not answer: ${away.join(', ')}`;

/** Adds up the figures of two shards: counts are summed, and of two ages (`…Ms`, null: nothing waits) the greater one is kept. */
export function addUp<Figures extends { [Name in keyof Figures]: number | null }>(
  one: Figures,
  other: Figures,
): Figures {
  const sums = Object.entries<number | null>(one).map(([name, figure]) => {
    const added = other[name as keyof Figures];
    if (figure === null || added === null) return [name, figure ?? added];
    return [name, name.endsWith('Ms') ? Math.max(figure, added) : figure + added];
  });
  return Object.fromEntries(sums) as Figures;
}
