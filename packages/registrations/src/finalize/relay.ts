import { hasOverdueChanges, leaseDueBatches, returnLease, type ShardBatches } from './batch-statements.ts';
import { inEachShard, type Database } from '@floodgate/database';
import { job, type Producer } from '@floodgate/queue';
import { finalizeBatchesJob } from './job.ts';

/** Batches per job: no more than one statement can write into the journal in time. */
const LEASE_LIMIT = 100;
/** Delay before batches that the queue refused are due again. */
const RETRY_MS = 1_000;

interface Dependencies {
  db: Database;
  producer: Producer;
  /** Finalizes batches as their job would. */
  finalize: (batches: ShardBatches) => Promise<unknown>;
}

/**
 * One round of the outbox relay. Finds overdue batches and changes: the queue was away when they committed or lost their job, or
 * the process that was to enqueue it died. Enqueues a job, or finalizes them itself while the queue refuses jobs. Returns `more`
 * if there may be more of them. A shard that does not answer does not delay the others.
 */
export async function relayDueBatches(deps: Dependencies): Promise<'more' | 'done'> {
  let result: 'more' | 'done' = 'done';
  const enqueue = enqueueUntilRefused(deps.producer);
  await inEachShard(deps.db, async (shardId) => {
    if (await relayShard({ ...deps, enqueue }, shardId)) result = 'more';
  });
  return result;
}

/** Resolves to whether the queue accepted the batches. */
type Enqueue = (batches: ShardBatches) => Promise<boolean>;
type Relay = Pick<Dependencies, 'db' | 'finalize'> & { enqueue: Enqueue };

/** After a refusal it does not ask the queue again in this round: a refusal may take seconds. */
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
  const batches = { shardId, batchIds };
  if (batchIds.length === 0) {
    // Without a lease: a job per round would pile up while no worker takes them.
    if (await hasOverdueChanges(db, shardId)) await finalize(batches);
    return false;
  }
  try {
    if (!(await enqueue(batches))) await finalize(batches);
  } catch (error) {
    await returnLease(db, batches, RETRY_MS);
    throw error;
  }
  return batchIds.length === LEASE_LIMIT;
}
