import { sqlStateOf } from '@floodgate/service/failure';
import { confirmBatches, failBatch, type ShardBatches } from './batch-statements.ts';
import { statementFailure } from '@floodgate/database';
import { snooze, type JobContext, type JobHandler, type WorkerContext } from '@floodgate/queue';
import type { finalizeBatchesJob } from './job.ts';
import { createTurns } from './turns.ts';

type Dependencies = Pick<WorkerContext<object>, 'db' | 'log'>;

/** How long others wait for a shard's turn to end, and how much later they come again. */
const PATIENCE_MS = 500;
const COME_AGAIN_MS = 1_000;

/**
 * The handler of finalize-batches. Idempotent: a batch that is confirmed already stays as it is.
 * A batch that cannot be confirmed does not hold its neighbours up; on the last attempt it is given up, visibly.
 * Where Postgres was away, batches stay pending instead: the relay enqueues them again when it is back.
 * A shard that does not answer keeps one job waiting; its others come again, and other shards' go on.
 */
export function finalizeBatches(deps: Dependencies): JobHandler<typeof finalizeBatchesJob> {
  // Postgres would let them wait for each other too, but with a connection each.
  const takeTurn = createTurns(PATIENCE_MS);
  return async ({ shardId = 0, batchIds }, context) => {
    const endTurn = await takeTurn(shardId);
    if (!endTurn) return snooze(COME_AGAIN_MS);
    try {
      await finalizeTogether(deps, { shardId, batchIds }, context);
    } finally {
      endTurn();
    }
    return 'done';
  };
}

async function finalizeTogether(
  deps: Dependencies,
  batches: ShardBatches,
  context: JobContext,
): Promise<void> {
  context.signal.throwIfAborted();
  try {
    await confirmBatches(deps.db, batches);
  } catch (error) {
    if (!isOwnFault(error)) throw error;
    await finalizeOneByOne(deps, batches, context);
  }
}

/** Throws the first failure, once all have had their turn. */
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
      await confirmBatches(db, { shardId, batchIds: [batchId] });
    } catch (error) {
      // Postgres is away or busy, and would be for the rest of them as well.
      if (!isOwnFault(error)) throw error;
      failure ??= error;
      if (
        context.isLastAttempt &&
        (await failBatch(db, shardId, batchId, sqlStateOf(error) ?? (error as Error).name))
      ) {
        log.error(
          { err: error, shardId, batchId },
          'finalization gave up; redrive it when the cause is mended',
        );
      }
    }
  }
  if (failure !== undefined) throw failure;
}

/** Whether the statement failed by what it was about, and not because Postgres was away or busy. */
function isOwnFault(error: unknown): boolean {
  return ['bad-value', 'conflict', 'unexpected'].includes(statementFailure(error));
}
