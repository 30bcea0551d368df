import type { Command } from '@commander-js/extra-typings';
import {
  answering,
  answeringChange,
  loadSettings,
  loadSettingsWithQueue,
  parseWhole,
  reasonOf,
  record,
  table,
  tableOf,
  withDatabase,
  withQueue,
  type Answer,
  type Cli,
  type QueueSettings,
} from '@floodgate/command';
import { awayText } from '@floodgate/database/reads/shards';
import type { Backlog } from './finalize/batch-statements.ts';
import type { Difference } from './reconcile/reconcile.ts';

export { addRegistrationCommands } from './list/command.ts';

const STATUS_DEADLINE_MS = 3_000;
const TIDY_UP_DEADLINE_MS = 5_000;
/** Differences that a person is shown. More do not help; --json has them all. */
const SHOWN = 100;

type QueueState = 'up' | 'unsafe' | 'down';

/** `floodgate queue …` */
export function addQueueCommands(program: Command, cli: Cli): void {
  const commands = program.command('queue').description('the queue between the API and the worker');
  const status = commands.command('status').description('what is waiting, as Postgres and the queue know it');
  answering(status, cli, async () => {
    const { readBacklog } = await import('./finalize/batch-statements.ts');
    const settings = await loadSettingsWithQueue(cli.env);
    const [backlog, queue] = await Promise.all([
      withDatabase(settings.databaseUrl, STATUS_DEADLINE_MS, readBacklog),
      readQueue(settings.queue),
    ]);
    const problems = [...(queue.state === 'down' ? ['the queue is down'] : []), ...awayLines(backlog)];
    return {
      document: { postgres: backlog, queues: [queue] },
      text: `${backlogText(backlog)}\n\n${queueText(queue)}`,
      ...(problems.length > 0 && { failure: problems.join('; ') }),
    };
  });
}

/** How the queue is, and why it is not simply up. Never rejects: that it is down is what an operator wants to see. */
async function readQueue(settings: QueueSettings) {
  const { UnsafeQueueError } = await import('@floodgate/queue');
  const name = (await import('./finalize/job.ts')).finalizeBatchesJob.queue;
  const problemOf = (error: unknown) => {
    if (error instanceof UnsafeQueueError) return error.message;
    throw error;
  };
  try {
    return await withQueue(settings, STATUS_DEADLINE_MS, async (queue) => {
      const problem = await queue.verify().then(() => null, problemOf);
      const state: QueueState = problem === null ? 'up' : 'unsafe';
      return { name, state, problem, counts: await queue.counts(name) };
    });
  } catch (error) {
    return { name, state: 'down' as QueueState, problem: reasonOf(error), counts: null };
  }
}

/** Which shards the backlog does not speak of, where there are any. */
const awayLines = ({ shardsAway }: Backlog) => (shardsAway === undefined ? [] : [awayText(shardsAway)]);

function backlogText({ pendingBatches, failedBatches, oldestPendingMs }: Backlog): string {
  return record({
    'pending batches': pendingBatches,
    'failed batches': failedBatches,
    'oldest pending': oldestPendingMs === null ? null : `${(oldestPendingMs / 1000).toFixed(1)} s`,
  });
}

function queueText({ name, state, problem, counts }: Awaited<ReturnType<typeof readQueue>>): string {
  const numbers = [counts?.waiting, counts?.active, counts?.delayed, counts?.failed].map((n) => n ?? null);
  const row = [name, ...numbers, problem === null ? state : `${state} (${problem})`];
  return table(['queue', 'waiting', 'active', 'delayed', 'failed', 'state'], [row]);
}

/** `floodgate redrive` */
export function addRedriveCommand(program: Command, cli: Cli): void {
  const redrive = program
    .command('redrive')
    .description('give failed batches another go')
    .option('--batch <uuid>', 'only this batch', (text) => text.toLowerCase())
    .option('--limit <batches>', 'at most this many, oldest first', parseWhole, 1_000);
  answeringChange(redrive, cli, async (db, actor, { batch, limit }) => {
    const { redriveShards } = await import('./actions.ts');
    const { readBacklog } = await import('./finalize/batch-statements.ts');
    const selection = { limit, ...(batch !== undefined && { batchId: batch }) };
    const { batchIds, away } = await redriveShards(db, selection, actor);
    await forgetFailedJobs(cli, batchIds);
    const { failedBatches: stillFailed } = await readBacklog(db);
    const redriven = batchIds.length;
    const text = `redriven: ${redriven} (${stillFailed} still failed); the worker's relay enqueues them now`;
    return {
      document: { redriven, stillFailed, batchIds },
      text: redriven === 0 ? 'nothing to redrive: no batch has failed' : text,
      ...(away.length > 0 && { failure: awayText(away) }),
    };
  });
}

/**
 * Tidies up the jobs that failed. What is missed, because the queue is down or slow, does no harm: the
 * next enqueue has a job id of its own, and failed jobs go by themselves after a while.
 */
async function forgetFailedJobs(cli: Cli, batchIds: readonly string[]): Promise<void> {
  const { queue: settings } = await loadSettings(cli.env);
  if (settings === null || batchIds.length === 0) return;
  const { finalizeBatchesJob, speaksOf } = await import('./finalize/job.ts');
  const redriven = new Set(batchIds);
  await withQueue(settings, TIDY_UP_DEADLINE_MS, async (queue) => {
    await queue.verify();
    await queue.removeFailed(finalizeBatchesJob.queue, (payload) => speaksOf(payload, redriven));
  }).catch(() => undefined);
}

/** `floodgate reconcile` */
export function addReconcileCommand(program: Command, cli: Cli): void {
  const command = program
    .command('reconcile')
    .description(
      `prove that seats, registrations and batches agree; exit 1 where they do not. Shows up to ${SHOWN} differences, --json all`,
    );
  answering(command, cli, async () => {
    const { reconcile, UNREAD } = await import('./reconcile/reconcile.ts');
    const { readBacklog } = await import('./finalize/batch-statements.ts');
    const { databaseUrl } = await loadSettings(cli.env);
    // It reads every registration, so it may take as long as it takes.
    return withDatabase(databaseUrl, null, async (db) => {
      const differences = await reconcile(db);
      const unread = differences.filter(({ problem }) => problem === UNREAD).length;
      return reconciliation(differences, unread, (await readBacklog(db)).failedBatches);
    });
  });
}

function reconciliation(differences: readonly Difference[], unread: number, failedBatches: number): Answer {
  const balanced = differences.length === 0;
  const more = differences.length - SHOWN;
  const lines = balanced
    ? ['balanced: seats, registrations and batches agree, and no batch was forgotten']
    : [tableOf(differences.slice(0, SHOWN))];
  if (more > 0) lines.push(`… and ${more} more; --json lists them all`);
  if (failedBatches > 0) lines.push(`failed batches, which keep their seats: ${failedBatches}; see redrive`);
  return {
    document: { balanced, differences, failedBatches },
    text: lines.join('\n'),
    ...(!balanced && { failure: imbalanceText(differences, unread) }),
  };
}

/** How many differences there are, and shards whose books nobody could read. */
function imbalanceText({ length }: readonly Difference[], unread: number): string {
  const found = length - unread;
  return [
    ...(found > 0 ? [`not balanced: ${found} found`] : []),
    ...(unread > 0 ? [`shards that do not answer: ${unread}`] : []),
  ].join('; ');
}
