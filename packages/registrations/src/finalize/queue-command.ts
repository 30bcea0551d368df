import type { Command } from '@commander-js/extra-typings';
import type { Backlog } from './read-backlog.ts';
import type { QueueCounts } from '@floodgate/queue';
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

/** How a queue is: its counts are null while it is down. */
interface QueueStatus {
  name: string;
  state: 'up' | 'unsafe' | 'down';
  /** Why it is not simply up. */
  problem: string | null;
  counts: QueueCounts | null;
}

/** `floodgate queue …` */
export function addQueueCommands(program: Command, cli: Cli): void {
  const commands = program.command('queue').description('the queue between the API and the worker');
  const status = commands.command('status').description('what is waiting, as Postgres and the queue know it');
  answering(status, cli, async () => {
    const { readBacklog } = await import('./read-backlog.ts');
    const settings = await loadSettingsWithQueue(cli.env);
    const [backlog, queue] = await Promise.all([
      withDatabase(settings.databaseUrl, STATEMENT_TIMEOUT_MS, readBacklog),
      readQueue(settings.queue),
    ]);
    return {
      document: { postgres: backlog, queues: [queue] },
      text: `${backlogText(backlog)}\n\n${queueText(queue)}`,
      ...(queue.state === 'down' && { failure: 'the queue is down' }),
    };
  });
}

/** Never rejects: that the queue is down is what an operator wants to see. */
async function readQueue(settings: QueueSettings): Promise<QueueStatus> {
  const { UnsafeQueueError } = await import('@floodgate/queue');
  const name = (await import('./job.ts')).finalizeBatchesJob.queue;
  const problemOf = (error: unknown) => {
    if (error instanceof UnsafeQueueError) return error.message;
    throw error;
  };
  try {
    return await withQueue(settings, QUEUE_DEADLINE_MS, async (queue) => {
      const problem = await queue.verify().then(() => null, problemOf);
      return { name, state: problem === null ? 'up' : 'unsafe', problem, counts: await queue.counts(name) };
    });
  } catch (error) {
    return { name, state: 'down', problem: reasonOf(error), counts: null };
  }
}

function backlogText({ pendingBatches, failedBatches, oldestPendingMs }: Backlog): string {
  return record({
    'pending batches': pendingBatches,
    'failed batches': failedBatches,
    'oldest pending': oldestPendingMs === null ? null : `${(oldestPendingMs / 1000).toFixed(1)} s`,
  });
}

function queueText({ name, state, problem, counts }: QueueStatus): string {
  const numbers = [counts?.waiting, counts?.active, counts?.delayed, counts?.failed].map((n) => n ?? null);
  const row = [name, ...numbers, problem === null ? state : `${state} (${problem})`];
  return table(['queue', 'waiting', 'active', 'delayed', 'failed', 'state'], [row]);
}
