import { leaseDueBatches, returnLease, type Database } from '@floodgate/database';
import { finalizeJob, type Producer } from '@floodgate/queue';

/** Batches handed to the queue in one round. */
const LEASE_LIMIT = 500;
/** When the queue refused: how soon the batches are due again. */
const RETRY_MS = 1_000;

/**
 * One round of the outbox relay: enqueues batches whose finalization is overdue, because the queue was away when
 * they committed, lost them, or whoever was to enqueue them died. Answers `more` while there may be more of them.
 */
export async function relayDueBatches(db: Database, producer: Producer): Promise<'more' | 'done'> {
  if (!producer.isUp()) return 'done';
  const due = await leaseDueBatches(db, LEASE_LIMIT);
  if (due.length === 0) return 'done';
  try {
    await producer.enqueue([finalizeJob(due)]);
  } catch (error) {
    const batchIds = due.map(({ batchId }) => batchId);
    await returnLease(db, batchIds, RETRY_MS);
    throw error;
  }
  return due.length === LEASE_LIMIT ? 'more' : 'done';
}
