import { leaseDueBatches, returnLease, type ShardBatches } from './batch-statements.ts';
import { inEachShard, type Database } from '@floodgate/database';
import { job, type Producer } from '@floodgate/queue';
import { finalizeBatchesJob } from './job.ts';

/** Batches handed to the queue in one round: no more than one statement can write into the journal in time. */
const LEASE_LIMIT = 100;
/** When the queue refused: how soon the batches are due again. */
const RETRY_MS = 1_000;

interface Dependencies {
  db: Database;
  producer: Producer;
  /** Finalizes batches here and now, as a job of theirs would. */
  finalize: (batches: ShardBatches) => Promise<unknown>;
}

/**
 * One round of the outbox relay: sees to batches whose finalization is overdue, because the queue was away when they
 * committed, lost them, or whoever was to enqueue them died. It enqueues them, or finalizes them itself while the queue is
 * down or, where it is spread over servers, a part of it. Returns `more` while there may be more of them. A shard that does not answer keeps no other waiting for long.
 */
export async function relayDueBatches(deps: Dependencies): Promise<'more' | 'done'> {
  let result: 'more' | 'done' = 'done';
  const enqueue = enqueueUntilRefused(deps.producer);
  await inEachShard(deps.db, async (shardId) => {
    if (await relayShard({ ...deps, enqueue }, shardId)) result = 'more';
  });
  return result;
}

/** Resolves with whether the queue took the batches. */
type Enqueue = (batches: ShardBatches) => Promise<boolean>;
type Relay = Pick<Dependencies, 'db' | 'finalize'> & { enqueue: Enqueue };

/** After a refusal it asks the queue no more: a part that is away may take seconds to refuse. */
function enqueueUntilRefused(producer: Producer): Enqueue {
  let isUp = producer.problem() === null;
  return async (batches) => {
    const add = async () => producer.enqueue(job(finalizeBatchesJob, batches));
    const isTaken =
      isUp &&
      (await add().then(
        () => true,
        () => false,
      ));
    return (isUp = isTaken);
  };
}

/** Returns whether there may be more. */
async function relayShard({ db, enqueue, finalize }: Relay, shardId: number): Promise<boolean> {
  const batchIds = await leaseDueBatches(db, shardId, LEASE_LIMIT);
  if (batchIds.length === 0) return false;
  const batches = { shardId, batchIds };
  try {
    if (!(await enqueue(batches))) await finalize(batches);
  } catch (error) {
    await returnLease(db, batches, RETRY_MS);
    throw error;
  }
  return batchIds.length === LEASE_LIMIT;
}
