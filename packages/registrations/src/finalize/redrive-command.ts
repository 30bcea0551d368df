import type { Command } from '@commander-js/extra-typings';
import { answeringChange, loadSettings, parseWhole, withQueue, type Cli } from '@floodgate/command';

const QUEUE_DEADLINE_MS = 5_000;

/** `floodgate redrive` */
export function addRedriveCommand(program: Command, cli: Cli): void {
  const redrive = program
    .command('redrive')
    .description('give failed batches another go')
    .option('--batch <uuid>', 'only this batch', (text) => text.toLowerCase())
    .option('--limit <batches>', 'at most this many, oldest first', parseWhole, 1_000);
  answeringChange(redrive, cli, async (db, actor, { batch, limit }) => {
    const [{ perform }, { redriveAction }, { readBacklog }] = await load();
    const selection = { limit, ...(batch !== undefined && { batchId: batch }) };
    const batchIds = await perform(db, redriveAction, selection, actor);
    await forgetFailedJobs(cli, batchIds);
    const { failedBatches: stillFailed } = await readBacklog(db);
    const document = { redriven: batchIds.length, stillFailed, batchIds };
    return { document, text: summary(batchIds.length, stillFailed) };
  });
}

const load = () =>
  Promise.all([import('@floodgate/audit'), import('./redrive-action.ts'), import('./read-backlog.ts')]);

function summary(redriven: number, stillFailed: number): string {
  if (redriven === 0) return 'nothing to redrive: no batch has failed';
  return `redriven: ${redriven} (${stillFailed} still failed); the worker's relay enqueues them now`;
}

/**
 * Tidies up the jobs that failed. What is missed, because the queue is down or slow, does no harm: the
 * next enqueue has a job id of its own, and failed jobs go by themselves after a while.
 */
async function forgetFailedJobs(cli: Cli, batchIds: readonly string[]): Promise<void> {
  const { queue: settings } = await loadSettings(cli.env);
  if (settings === null || batchIds.length === 0) return;
  const { finalizeBatchesJob, speaksOf } = await import('./job.ts');
  const redriven = new Set(batchIds);
  await withQueue(settings, QUEUE_DEADLINE_MS, async (queue) => {
    await queue.verify();
    await queue.removeFailed(finalizeBatchesJob.queue, (payload) => speaksOf(payload, redriven));
  }).catch(() => undefined);
}
