import { inEachShard, type Database } from '@floodgate/database';
import { deleteOldSegments } from '@floodgate/journal';
import { defineWorker, job } from '@floodgate/queue';
import { whole } from '@floodgate/service';
import { expireHolds } from './change/change-registrations.ts';
import { readBacklog, type ShardBatches } from './finalize/batch-statements.ts';
import { finalizeBatches } from './finalize/finalize-batches.ts';
import { finalizeBatchesJob } from './finalize/job.ts';
import { relayDueBatches } from './finalize/relay.ts';
import { deleteExpiredIdempotencyKeys } from './idempotency/expired-keys.ts';
import { retentionSettings } from './idempotency/retention.ts';

const EXPIRY_INTERVAL_MS = 60_000;
/** A seat that was held can be sold again so long after its time. */
const HOLDS_INTERVAL_MS = 500;
/** Rows that one statement deletes: few, so that it never holds anything up. */
const ROWS_PER_STATEMENT = 1_000;

/** What the worker does for registrations. */
export const registrationsWorker = defineWorker({
  jobs: [finalizeBatchesJob],
  settings: {
    ...retentionSettings,
    RELAY_INTERVAL_MS: whole('how often the outbox is looked through', {
      minimum: 50,
      maximum: 60_000,
      default: 1_000,
    }),
    JOURNAL_RETENTION_DAYS: whole(
      'how long the journal is kept, which lists and later deliveries are read from',
      {
        minimum: 1,
        maximum: 36_500,
        default: 365,
      },
    ),
  },
  open: ({ db, log, producer, config }) => {
    const finalize = finalizeBatches({ db, log });
    const context = { isLastAttempt: false, signal: new AbortController().signal };
    const relay = { db, producer, finalize: (batches: ShardBatches) => finalize(batches, context) };
    return {
      handlers: { 'finalize-batches': finalize },
      tasks: [
        {
          name: 'holds',
          intervalMs: HOLDS_INTERVAL_MS,
          run: () =>
            expire(db, async (shardId) => {
              const expired = await expireHolds(db, shardId, ROWS_PER_STATEMENT);
              // May fail: the relay finds the changes.
              if (expired > 0)
                producer.enqueue(job(finalizeBatchesJob, { shardId, batchIds: [] })).catch(() => {});
              return expired;
            }),
        },
        { name: 'relay', intervalMs: config.RELAY_INTERVAL_MS, run: () => relayDueBatches(relay) },
        {
          name: 'expiry',
          intervalMs: EXPIRY_INTERVAL_MS,
          run: () =>
            expire(db, (shardId) =>
              deleteExpiredIdempotencyKeys(
                db,
                shardId,
                ROWS_PER_STATEMENT,
                config.IDEMPOTENCY_RETENTION_HOURS,
              ),
            ),
        },
        {
          name: 'journal-expiry',
          intervalMs: EXPIRY_INTERVAL_MS,
          run: () =>
            expire(db, (shardId) =>
              deleteOldSegments(db, shardId, config.JOURNAL_RETENTION_DAYS, ROWS_PER_STATEMENT),
            ),
        },
      ],
      backlogs: { finalize: () => readBacklog(db) },
    };
  },
});

/** Deletes what has expired in each shard, a few rows in a statement. Returns whether there may be more. */
async function expire(
  db: Database,
  deleteSome: (shardId: number) => Promise<number>,
): Promise<'more' | 'done'> {
  let result: 'more' | 'done' = 'done';
  await inEachShard(db, async (shardId) => {
    if ((await deleteSome(shardId)) >= ROWS_PER_STATEMENT) result = 'more';
  });
  return result;
}
