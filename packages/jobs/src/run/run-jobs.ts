import { inEachShard, rememberShards, statementFailure, type Database } from '@floodgate/database';
import {
  sleep,
  systemClock,
  throttledWarn,
  type Clock,
  type Logger,
  type TaskResult,
} from '@floodgate/service';
import { sqlStateOf } from '@floodgate/service/failure';
import {
  addItems,
  endJob,
  JOB_LEASE_SECONDS,
  leaseJob,
  releaseJob,
  runBatch,
  type LeasedJob,
} from './lease-job.ts';
import { FIRST_SIZE, nextSize, pauseAfter, readWaiting } from './pace.ts';
import { restOfEvent } from './rest-of-event.ts';

/** A process runs a job for so long before it serves another one. It also bounds the wait for its stop. */
const SLICE_MS = 1_000;
/** Limit of the wait for a locked ticket. */
const LOCK_WITHIN_MS = 1_000;
const AFTER_FAILURE_MS = 1_000;

/** Postgres has refused a batch. Other failures say nothing about its items. */
class BatchFailed extends Error {
  override name = 'BatchFailed';
}

export interface RunJobsOptions {
  db: Database;
  log: Logger;
  /** Called after a batch that may have changes to publish. Can fail: the relay finds them. */
  onBatch: (shardId: number) => void;
  clock?: Clock | undefined;
}

/**
 * Returns a task that runs the jobs of all shards, each in one process at a time. A failed batch has changed
 * nothing and is repeated, in halves. A single item that cannot be treated is recorded and left out.
 */
export function createJobRuns({ db, log, onBatch, clock = systemClock }: RunJobsOptions) {
  const shards = rememberShards(db);
  const warn = throttledWarn('a batch of a job failed; it is repeated', clock);
  /** By job: the size of its next batch. */
  const sizes = new Map<string, number>();

  /** Runs one batch. Returns its state and how long to wait. */
  async function step(job: LeasedJob, skipReason: string | null) {
    const size = skipReason === null ? (sizes.get(job.id) ?? FIRST_SIZE) : 1;
    const options = { size, leaseSeconds: JOB_LEASE_SECONDS, lockWithinMs: LOCK_WITHIN_MS, skipReason };
    const startedAt = clock.now();
    const batch = await runBatch(db, job, options).catch((cause: unknown) => {
      throw new BatchFailed('a batch failed', { cause });
    });
    if (batch.state === 'more') {
      onBatch(job.shardId);
      sizes.set(job.id, nextSize(size, batch.tookMs));
    }
    return { state: batch.state, tookMs: clock.now() - startedAt };
  }

  /** Returns whether the job has ended. */
  async function end(job: LeasedJob) {
    const rest = job.kind === 'call-off' ? await restOfEvent(db, job.shardId, job.eventId) : [];
    if (rest.length > 0) return !(await addItems(db, job, rest));
    await endJob(db, job);
    sizes.delete(job.id);
    return true;
  }

  async function runSlice(job: LeasedJob) {
    const until = clock.now() + SLICE_MS;
    while (clock.now() < until) {
      const { state, tookMs } = await step(job, null);
      if (state === 'lost' || (state === 'end' && (await end(job)))) return;
      await sleep(clock, pauseAfter(tookMs, await readWaiting(db, job.shardId)));
    }
    await releaseJob(db, job);
  }

  async function recover(job: LeasedJob, failure: unknown) {
    const isOfBatch = failure instanceof BatchFailed;
    const error = isOfBatch ? failure.cause : failure;
    const sqlState = sqlStateOf(error);
    const reason = sqlState ?? 'unexpected';
    warn(log, { err: error, job: job.id, reason });
    const isRefusal = ['bad-value', 'conflict', 'unexpected'].includes(statementFailure(error));
    const isOfItem = isOfBatch && sqlState !== undefined && isRefusal;
    const size = sizes.get(job.id) ?? FIRST_SIZE;
    if (isOfItem && size === 1) await step(job, reason);
    if (isOfItem) sizes.set(job.id, Math.max(1, Math.floor(size / 2)));
    // If this fails as well, the lease expires.
    await releaseJob(db, job, isOfItem ? 0 : AFTER_FAILURE_MS, reason);
  }

  async function runShard(shardId: number) {
    const job = await leaseJob(db, shardId);
    if (!job) return false;
    await runSlice(job).catch((error: unknown) => recover(job, error));
    return true;
  }

  return async (): Promise<TaskResult> =>
    (await inEachShard(db, runShard, shards)) === 'more' ? 'more' : 'idle';
}
