import { sql } from 'kysely';
import { plainArray, statementFailure, type Database } from '@floodgate/database';
import type { JobContext, JobHandler, WorkerContext } from '@floodgate/queue';
import {
  createFairQueue,
  isTracing,
  QueueFull,
  recordSpan,
  sqlStateOf,
  systemClock,
} from '@floodgate/service';
import { finalizeBatchesJob, type ShardBatches } from './queue-notifier.ts';

type Dependencies = Pick<WorkerContext<object>, 'db' | 'log'>;

/**
 * The handler of finalize-batches. Idempotent: a confirmed batch is skipped. A batch that cannot be confirmed
 * does not delay the others. After the last attempt it is `failed`, and operators see it. While Postgres is
 * down, batches stay pending. The relay finds them when Postgres is up again. A shard that does not answer
 * blocks one job. The shard's other jobs are snoozed, and other shards continue.
 */
export function finalizeBatches(deps: Dependencies, clock = systemClock): JobHandler<ShardBatches> {
  // One job per shard runs at a time. In Postgres the others would wait for the journal head and hold a
  // connection each.
  const { timeoutMs: patienceMs } = finalizeBatchesJob;
  // A job waits so long for another job of its shard, and then it is snoozed.
  const options = { answerWithinMs: 500, timeoutAppliesToRunning: false, patienceMs, clock };
  const queues = new Map<number, ReturnType<typeof createFairQueue>>();
  return async (batches, context) => {
    const queue = queues.getOrInsertComputed(batches.shardId, () => createFairQueue(options));
    const work = () => finalizeTogether(deps, batches, context);
    try {
      await queue(0, () => true, work);
      return 'done';
    } catch (error) {
      if (error instanceof QueueFull) return { snoozeMs: 1_000 };
      throw error;
    }
  };
}

async function finalizeTogether(deps: Dependencies, batches: ShardBatches, context: JobContext) {
  const confirm = (batchIds: string[]) => {
    context.signal.throwIfAborted();
    return confirmBatches(deps.db, { ...batches, batchIds });
  };
  let more = true;
  const startedAt = performance.now();
  try {
    more = await confirm(batches.batchIds);
  } catch (error) {
    if (!isOwnFault(error) || batches.batchIds.length === 0) throw error;
    await finalizeOneByOne(deps, batches, context);
  }
  if (isTracing())
    for (const batchId of batches.batchIds)
      recordSpan({ name: 'finalize', batchId, startedAt, attributes: { batches: batches.batchIds.length } });
  while (more) more = await confirm([]);
}

/**
 * Publishes each batch alone, without changes, so that one bad row does not block the others. Throws the
 * first failure at the end.
 */
async function finalizeOneByOne(deps: Dependencies, batches: ShardBatches, context: JobContext) {
  const { shardId, batchIds } = batches;
  let failure: unknown;
  for (const batchId of batchIds) {
    context.signal.throwIfAborted();
    try {
      await confirmBatches(deps.db, { shardId, batchIds: [batchId] }, 0);
    } catch (error) {
      // Postgres is down or busy, so the other batches would fail as well.
      if (!isOwnFault(error)) throw error;
      failure ??= error;
      const code = sqlStateOf(error) ?? (error as Error).name;
      if (context.isLastAttempt && (await failBatch(deps.db, shardId, batchId, code)))
        deps.log.error(
          { err: error, shardId, batchId },
          'finalization failed; redrive the batch when the cause is corrected',
        );
    }
  }
  if (failure !== undefined) throw failure;
}

/** Returns whether the statement failed because of its data, not because Postgres was down or busy. */
function isOwnFault(error: unknown) {
  return ['bad-value', 'conflict', 'unexpected'].includes(statementFailure(error));
}

/** Bounds how long one pass holds the journal head. */
const CHANGES_PER_PASS = 1_000;

/**
 * Confirms batches, and publishes them and the oldest changes of their shard, all or nothing. Idempotent:
 * skips what the journal already has. In each shard one call runs at a time, and the others wait. Returns
 * whether there may be more changes.
 */
export async function confirmBatches(db: Database, batches: ShardBatches, changes = CHANGES_PER_PASS) {
  const [, published] = await publish(db, batches, null, changes);
  return changes > 0 && published === changes;
}

/**
 * Fails a pending batch: its registrations read `failed` and keep their seats until an operator redrives it.
 * Returns whether it was pending.
 */
export async function failBatch(db: Database, shardId: number, batchId: string, failure: string) {
  const [failed] = await publish(db, { shardId, batchIds: [batchId] }, failure, 0);
  return failed === 1;
}

async function publish(db: Database, batches: ShardBatches, failure: string | null, changes: number) {
  const { shardId, batchIds } = batches;
  const { rows } = await sql<{ counts: [batches: number, changes: number] }>`
    select finalize_batches(
      ${shardId}::integer, ${plainArray(batchIds)}::uuid[], ${failure}::text, ${changes}::integer
    ) as counts`.execute(db);
  return rows[0]!.counts;
}
