import type { Database } from '../connection/connect.ts';
import { isShardAway } from '../connection/failures.ts';

// In a cluster one shard's server may be away while the others answer. What concerns all shards does what it can.

/** Returns the ids of all shards. */
export async function shardIds(db: Database): Promise<number[]> {
  const shards = await db.selectFrom('shards').select('id').orderBy('id').execute();
  return shards.map(({ id }) => id);
}

/** Does `work` in each shard, one after the other. Throws the first failure once all have had their turn. */
export async function inEachShard(db: Database, work: (shardId: number) => Promise<unknown>): Promise<void> {
  let failure: unknown;
  for (const shardId of await shardIds(db)) {
    try {
      await work(shardId);
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
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
