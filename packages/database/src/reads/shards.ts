import type { Database } from '../connection/connect.ts';
import { isShardAway } from '../connection/failures.ts';

// In a cluster one server can be away while the others answer. Work on all shards does what it can.

/** Returns the ids of all shards. */
export async function shardIds(db: Database): Promise<number[]> {
  const shards = await db.selectFrom('shards').select('id').orderBy('id').execute();
  return shards.map(({ id }) => id);
}

/** New shards are rare. Polls find them this much later. */
const REMEMBERED_MS = 5_000;

/** Returns a reader of the ids of all shards that asks Postgres at most every five seconds. A poll needs one statement less with it. */
export function rememberShards(db: Database): () => Promise<number[]> {
  let known: number[] = [];
  let readAt = -Infinity;
  return async () => {
    if (performance.now() - readAt < REMEMBERED_MS) return known;
    known = await shardIds(db);
    readAt = performance.now();
    return known;
  };
}

/** Does `work` in each shard, one after the other. Returns `more` if it resolved to true in one. Throws the first failure after the last. */
export async function inEachShard(
  db: Database,
  work: (shardId: number) => Promise<unknown>,
  shards = () => shardIds(db),
): Promise<'more' | 'done'> {
  let failure: unknown;
  let result: 'more' | 'done' = 'done';
  for (const shardId of await shards()) {
    try {
      if ((await work(shardId)) === true) result = 'more';
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return result;
}

/**
 * Asks shards one after the other. Returns the answers, in order, and which shards are away. Throws where none of them
 * answers, and what fails for another reason.
 */
export async function askShards<Answer>(
  shards: readonly number[],
  ask: (shardId: number) => Promise<Answer>,
): Promise<{ answers: Answer[]; away: number[] }> {
  const answers: Answer[] = [];
  const away: number[] = [];
  for (const shardId of shards) {
    try {
      answers.push(await ask(shardId));
    } catch (error) {
      if (!isShardAway(error) || away.length === shards.length - 1) throw error;
      away.push(shardId);
    }
  }
  return { answers, away };
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
