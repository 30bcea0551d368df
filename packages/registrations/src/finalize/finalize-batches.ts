import { statementFailure } from '@floodgate/database';
import type { JobContext, JobHandler, WorkerContext } from '@floodgate/queue';
import { createFairQueue, QueueFull } from '@floodgate/service';
import { sqlStateOf } from '@floodgate/service/failure';
import { confirmBatches, failBatch, type ShardBatches } from './batch-statements.ts';
import { finalizeBatchesJob } from './job.ts';

type Dependencies = Pick<WorkerContext<object>, 'db' | 'log'>;

/** How long a job waits for another one of its shard, and how much later it runs again after that. */
const PATIENCE_MS = 500;
const SNOOZE_MS = 1_000;

/**
 * The handler of finalize-batches. Idempotent: a confirmed batch is skipped.
 * A batch that cannot be confirmed does not delay the others. After the last attempt it has failed, and operators see it.
 * While Postgres is away, batches stay pending: the relay enqueues them again when it is back.
 * A shard that does not answer keeps one job waiting. Its other jobs are snoozed, and other shards continue.
 */
export function finalizeBatches(deps: Dependencies): JobHandler<typeof finalizeBatchesJob> {
  // In Postgres they would wait for the journal head, with a connection each.
  const openQueue = () =>
    createFairQueue({
      answerWithinMs: PATIENCE_MS,
      abandonsStarted: false,
      patienceMs: finalizeBatchesJob.timeoutMs,
    });
  const queues = new Map<number, ReturnType<typeof openQueue>>();
  return async (batches, context) => {
    const queue = queues.get(batches.shardId) ?? openQueue();
    queues.set(batches.shardId, queue);
    try {
      await queue(
        0,
        () => true,
        () => finalizeTogether(deps, batches, context),
      );
      return 'done';
    } catch (error) {
      if (error instanceof QueueFull) return { snoozeMs: SNOOZE_MS };
      throw error;
    }
  };
}

async function finalizeTogether(
  deps: Dependencies,
  batches: ShardBatches,
  context: JobContext,
): Promise<void> {
  context.signal.throwIfAborted();
  let more: boolean;
  try {
    more = await confirmBatches(deps.db, batches);
  } catch (error) {
    if (!isOwnFault(error) || batches.batchIds.length === 0) throw error;
    await finalizeOneByOne(deps, batches, context);
    more = true;
  }
  while (more) {
    context.signal.throwIfAborted();
    more = await confirmBatches(deps.db, { ...batches, batchIds: [] });
  }
}

/** Without changes, so that neither a batch nor a change can keep the others from being published. Throws the first failure at the end. */
async function finalizeOneByOne(
  deps: Dependencies,
  batches: ShardBatches,
  context: JobContext,
): Promise<void> {
  const { db, log } = deps;
  const { shardId, batchIds } = batches;
  let failure: unknown;
  for (const batchId of batchIds) {
    context.signal.throwIfAborted();
    try {
      await confirmBatches(db, { shardId, batchIds: [batchId] }, 0);
    } catch (error) {
      // Postgres is away or busy, and would be for the other batches too.
      if (!isOwnFault(error)) throw error;
      failure ??= error;
      const code = sqlStateOf(error) ?? (error as Error).name;
      if (context.isLastAttempt && (await failBatch(db, shardId, batchId, code)))
        log.error(
          { err: error, shardId, batchId },
          'finalization failed; redrive the batch when the cause is corrected',
        );
    }
  }
  if (failure !== undefined) throw failure;
}

/** Returns whether the statement failed because of its data, and not because Postgres was away or busy. */
function isOwnFault(error: unknown): boolean {
  return ['bad-value', 'conflict', 'unexpected'].includes(statementFailure(error));
}
