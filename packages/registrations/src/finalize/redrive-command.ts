import type { Command } from 'commander';
import { readBacklog } from './read-backlog.ts';
import { redriveBatches } from './redrive-batches.ts';
import { finalizeBatchesJob } from './job.ts';
import {
  answeringFromDatabase,
  parseBatchId,
  parseLimit,
  type Cli,
  Failure,
  withQueue,
  loadSettings,
} from '@floodgate/command';

const QUEUE_DEADLINE_MS = 5_000;

/** `floodgate redrive` */
export function addRedriveCommand(program: Command, cli: Cli): void {
  const redrive = program
    .command('redrive')
    .description('give failed batches another go')
    .option('--batch <uuid>', 'only this batch', parseBatchId)
    .option('--limit <batches>', 'at most this many, oldest first', parseLimit, 1_000);
  answeringFromDatabase(redrive, cli, async (db, { batch, limit }: { batch?: string; limit: number }) => {
    const redriven = await redriveBatches(db, { limit, ...(batch !== undefined && { batchId: batch }) });
    if (batch !== undefined && redriven.length === 0) throw new Failure('no failed batch has this id');
    await forgetFailedJobs(cli, redriven);
    const { failedBatches: stillFailed } = await readBacklog(db);
    const document = {
      redriven: redriven.length,
      stillFailed,
      batchIds: redriven,
    };
    return { document, text: summary(redriven.length, stillFailed) };
  });
}

function summary(redriven: number, stillFailed: number): string {
  if (redriven === 0) return 'nothing to redrive: no batch has failed';
  return `redriven: ${redriven} (${stillFailed} still failed); the worker's relay enqueues them now`;
}

/**
 * Tidies up the jobs that failed. What is missed, because the queue is down or slow, does no harm: the
 * next enqueue has a job id of its own, and failed jobs go by themselves after a while.
 */
async function forgetFailedJobs(cli: Cli, batchIds: readonly string[]): Promise<void> {
  const { queue: settings } = loadSettings(cli.env);
  if (settings === null || batchIds.length === 0) return;
  const redriven = new Set(batchIds);
  const removal = withQueue(cli, settings, QUEUE_DEADLINE_MS, async (queue) => {
    await queue.verify();
    await queue.removeFailed(finalizeBatchesJob.queue, (payload) => speaksOf(payload, redriven));
  });
  await removal.catch(() => undefined);
}

/** Whether a failed job speaks of a batch that is redriven. What else it speaks of is known to Postgres. */
export function speaksOf(payload: unknown, batchIds: ReadonlySet<string>): boolean {
  return finalizeBatchesJob.isPayload(payload) && payload.batchIds.some((batchId) => batchIds.has(batchId));
}
