import { leaseDueBatches, returnLease } from './batch-statements.ts';
import type { Database } from '@floodgate/database';
import { job, type Producer } from '@floodgate/queue';
import { finalizeBatchesJob } from './job.ts';

/** Batches handed to the queue in one round. */
const LEASE_LIMIT = 500;
/** When the queue refused: how soon the batches are due again. */
const RETRY_MS = 1_000;

/**
 * One round of the outbox relay: enqueues batches whose finalization is overdue, because the queue was away when
 * they committed, lost them, or whoever was to enqueue them died. Returns `more` while there may be more of them.
 */
export async function relayDueBatches(db: Database, producer: Producer): Promise<'more' | 'done'> {
  if (producer.problem() !== null) return 'done';
  const batchIds = await leaseDueBatches(db, LEASE_LIMIT);
  if (batchIds.length === 0) return 'done';
  try {
    await producer.enqueue(job(finalizeBatchesJob, { batchIds }));
  } catch (error) {
    await returnLease(db, batchIds, RETRY_MS);
    throw error;
  }
  return batchIds.length === LEASE_LIMIT ? 'more' : 'done';
}
