import { inEachShard, rememberShards } from '@floodgate/database';
import { deleteOldSegments } from '@floodgate/journal';
import { defineWorker, handled } from '@floodgate/queue';
import { whole } from '@floodgate/service';
import { readBacklog } from './finalize/backlog.ts';
import { finalizeBatches } from './finalize/finalize-batches.ts';
import {
  finalizeBatchesJob,
  finalizeEnqueuer,
  finalizeSettings,
  type ShardBatches,
} from './finalize/queue-notifier.ts';
import { expireHolds } from './holds/expire-holds.ts';
import { compactHeldSeats } from './holds/held-seats.ts';
import { holdShareSettings } from './holds/settings.ts';
import { indexAttendees } from './find/find-attendees.ts';
import { relayDueBatches } from './finalize/relay.ts';
import { deleteExpiredIdempotencyKeys, retentionSettings } from './idempotency/expired-keys.ts';

/** How soon the seat of an expired hold can be sold again. */
const HOLDS_INTERVAL_MS = 1_000;
const EXPIRY_INTERVAL_MS = 60_000;
/** During a launch, this many are indexed per interval, unless some are five seconds old. */
const INDEXED_PER_STATEMENT = 1_000;
/** Few rows per statement, so that it does not block others for long. */
const ROWS_PER_STATEMENT = 1_000;

/** The worker's tasks for registrations. */
export const registrationsWorker = defineWorker({
  settings: {
    ...retentionSettings,
    ...finalizeSettings,
    ...holdShareSettings,
    FINALIZE_CONCURRENCY: whole('jobs at once', [1, 1_000], finalizeBatchesJob.concurrency),
    RELAY_INTERVAL_MS: whole('how often the relay reads the outbox', [50, 60_000], 1_000),
    JOURNAL_RETENTION_DAYS: whole('how long the journal is kept for lists and deliveries', [1, 36_500], 365),
  },
  open: ({ db, log, producer, config, clock }) => {
    const finalize = finalizeBatches({ db, log }, clock);
    const context = { isLastAttempt: false, signal: new AbortController().signal };
    const enqueue = finalizeEnqueuer(producer, config);
    const shards = rememberShards(db);
    const relay = { db, shards, enqueue, finalize: (batches: ShardBatches) => finalize(batches, context) };
    /** Returns a task that expires rows in each shard. Its result says whether there may be more. */
    const expiry = (name: string, intervalMs: number, expireSome: (shardId: number) => Promise<number>) => ({
      name,
      intervalMs,
      run: () =>
        inEachShard(db, async (shardId) => (await expireSome(shardId)) >= ROWS_PER_STATEMENT, shards),
    });
    return {
      jobs: [{ ...handled(finalizeBatchesJob, finalize), concurrency: config.FINALIZE_CONCURRENCY }],
      tasks: [
        expiry('holds', HOLDS_INTERVAL_MS, async (shardId) => {
          const expired = await expireHolds(db, shardId, ROWS_PER_STATEMENT, config.HOLD_SHARE_PERCENT);
          // May fail: the relay finds the changes.
          if (expired > 0) enqueue({ shardId, batchIds: [] }).catch(() => {});
          return expired;
        }),
        {
          name: 'attendee index',
          // How soon operators find a new registration.
          intervalMs: 2_000,
          run: () => inEachShard(db, (shardId) => indexAttendees(db, shardId, INDEXED_PER_STATEMENT), shards),
        },
        { name: 'relay', intervalMs: config.RELAY_INTERVAL_MS, run: () => relayDueBatches(relay) },
        expiry('held seats', EXPIRY_INTERVAL_MS, (shardId) =>
          compactHeldSeats(db, shardId, ROWS_PER_STATEMENT),
        ),
        expiry('expiry', EXPIRY_INTERVAL_MS, (shardId) =>
          deleteExpiredIdempotencyKeys(db, shardId, ROWS_PER_STATEMENT, config.IDEMPOTENCY_RETENTION_HOURS),
        ),
        expiry('journal-expiry', EXPIRY_INTERVAL_MS, (shardId) =>
          deleteOldSegments(db, shardId, config.JOURNAL_RETENTION_DAYS, ROWS_PER_STATEMENT),
        ),
      ],
      backlogs: { finalize: () => readBacklog(db) },
    };
  },
});
