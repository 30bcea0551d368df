import type { Command } from '@commander-js/extra-typings';
import type { Backlog } from './read-backlog.ts';
import type { Producer, QueueCounts } from '@floodgate/queue';
import {
  answering,
  withDatabase,
  type Cli,
  reasonOf,
  withQueue,
  record,
  table,
  loadSettingsWithQueue,
  type QueueSettings,
} from '@floodgate/command';

const STATEMENT_TIMEOUT_MS = 3_000;
const QUEUE_DEADLINE_MS = 3_000;

/** How one queue is: its counts are null while it is down. */
export interface QueueStatus {
  name: string;
  state: 'up' | 'unsafe' | 'down';
  /** Why it is not simply up. */
  problem: string | null;
  counts: QueueCounts | null;
}

/** `floodgate queue …` */
export function addQueueCommands(program: Command, cli: Cli): void {
  const queue = program.command('queue').description('the queue between the API and the worker');
  const status = queue.command('status').description('what is waiting, as Postgres and the queue know it');
  answering(status, cli, async () => {
    const { readBacklog } = await import('./read-backlog.ts');
    const settings = await loadSettingsWithQueue(cli.env);
    const [backlog, queues] = await Promise.all([
      withDatabase(settings.databaseUrl, STATEMENT_TIMEOUT_MS, readBacklog),
      readQueues(settings.queue),
    ]);
    return {
      document: { postgres: backlog, queues },
      text: `${backlogText(backlog)}\n\n${queuesText(queues)}`,
      ...(queues.some(({ state }) => state === 'down') && { failure: 'the queue is down' }),
    };
  });
}

/** Never rejects: that the queue is down is what an operator wants to see. */
async function readQueues(settings: QueueSettings): Promise<QueueStatus[]> {
  const { finalizeBatchesJob } = await import('./job.ts');
  try {
    return await withQueue(settings, QUEUE_DEADLINE_MS, readCounts);
  } catch (error) {
    const problem = reasonOf(error);
    return [{ name: finalizeBatchesJob.queue, state: 'down', problem, counts: null }];
  }
}

async function readCounts(queue: Producer): Promise<QueueStatus[]> {
  const { UnsafeQueueError } = await import('@floodgate/queue');
  const { finalizeBatchesJob } = await import('./job.ts');
  const problem = await queue.verify().then(
    () => null,
    (error: unknown) => {
      if (error instanceof UnsafeQueueError) return error.message;
      throw error;
    },
  );
  const state = problem === null ? 'up' : 'unsafe';
  const name = finalizeBatchesJob.queue;
  return [{ name, state, problem, counts: await queue.counts(name) }];
}

function backlogText({ pendingBatches, failedBatches, oldestPendingMs }: Backlog): string {
  return record({
    'pending batches': pendingBatches,
    'failed batches': failedBatches,
    'oldest pending': oldestPendingMs === null ? null : `${(oldestPendingMs / 1000).toFixed(1)} s`,
  });
}

function queuesText(queues: QueueStatus[]): string {
  const rows = queues.map(({ name, state, problem, counts }) => [
    name,
    counts?.waiting ?? null,
    counts?.active ?? null,
    counts?.delayed ?? null,
    counts?.failed ?? null,
    problem === null ? state : `${state} (${problem})`,
  ]);
  return table(['queue', 'waiting', 'active', 'delayed', 'failed', 'state'], rows);
}
