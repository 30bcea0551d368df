import type { Command } from '@commander-js/extra-typings';
import {
  answering,
  answeringFromDatabase,
  loadSettingsWithQueue,
  parseId,
  parseLimit,
  parseSeconds,
  reasonOf,
  record,
  table,
  tableOf,
  withDatabase,
  withQueue,
  type Cli,
  type QueueSettings,
} from '@floodgate/command';
import { awayText } from '@floodgate/database/reads/shards';
import type { Lag, Lags } from '@floodgate/journal';
import type { Backlog } from './batch-statements.ts';
import type { FailedBatch } from './failed-batches.ts';

const STATUS_DEADLINE_MS = 3_000;
/** A batch is finalized within a second. An operator should know of one that is retried for longer. */
const MAX_AGE_S = 60;

type QueueState = 'up' | 'unsafe' | 'down';

/** `floodgate queue …` */
export function addQueueCommands(program: Command, cli: Cli): void {
  const commands = program.command('queue').description('backlog of the worker and of deliveries');
  const status = commands
    .command('status')
    .description(
      'backlog of Postgres, the queue and deliveries; exit 1 if batches wait too long, batches have failed, no worker is connected, or something is down',
    )
    .option(
      '--max-age <seconds>',
      'exit 1 if the oldest pending batch or change is older than this',
      parseSeconds,
      MAX_AGE_S,
    );
  answering(status, cli, async ({ maxAge }) => {
    const { readBacklog } = await import('./batch-statements.ts');
    const { readLags } = await import('@floodgate/journal');
    const settings = await loadSettingsWithQueue(cli.env);
    const [{ backlog, lags }, queue] = await Promise.all([
      withDatabase(settings.databaseUrl, STATUS_DEADLINE_MS, async (db) => {
        return { backlog: await readBacklog(db), lags: await readLags(db) };
      }),
      readQueue(settings.queue),
    ]);
    const problems = [...queueProblems(queue), ...backlogProblems(backlog, maxAge), ...awayLines(backlog)];
    const { shardsAway: _, ...deliveries } = lags;
    return {
      document: { postgres: backlog, queues: [queue], deliveries },
      text: [backlogText(backlog), queueText(queue), ...deliveriesText(deliveries)].join('\n\n'),
      ...(problems.length > 0 && { failure: problems.join('; ') }),
    };
  });
  const listFailed = commands
    .command('failed')
    .description('failed batches, the oldest first; see redrive')
    .option('--event <id>', 'only those with registrations for this event', parseId)
    .option('--limit <batches>', 'at most this many', parseLimit, 100);
  answeringFromDatabase(listFailed, cli, async (db, { event, limit }) => {
    const { listFailedBatches } = await import('./failed-batches.ts');
    const { failed, away } = await listFailedBatches(db, { eventId: event, limit });
    return {
      document: failed,
      text: failed.length === 0 ? 'no batch has failed' : tableOf(failed.map(rowOf)),
      ...(away.length > 0 && { failure: awayText(away) }),
    };
  });
}

const rowOf = ({ batchId, eventIds, registrations, ageMs, failedAt, reason }: FailedBatch) => ({
  batch: batchId,
  events: eventIds.join(', '),
  registrations,
  'failed at': failedAt,
  age: secondsText(ageMs),
  reason,
});

const secondsText = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function deliveriesText(lags: Omit<Lags, 'shardsAway'>): string[] {
  const rows = Object.entries(lags as Record<string, Lag>).map(([kind, lag]) => ({
    deliveries: kind,
    consumers: lag.consumers,
    behind: lag.behind,
    'oldest undelivered': lag.oldestMs === null ? null : secondsText(lag.oldestMs),
    failing: lag.failing,
    disabled: lag.disabled,
  }));
  return rows.length === 0 ? [] : [tableOf(rows)];
}

function queueProblems({ state, workers }: QueueReading): string[] {
  if (state === 'down') return ['the queue is down'];
  return [
    ...(state === 'unsafe' ? ['the queue could lose jobs'] : []),
    ...(workers === 0 ? ['no worker is connected to the queue'] : []),
  ];
}

function backlogProblems({ failedBatches, oldestPendingMs }: Backlog, maxAgeS: number): string[] {
  const isLate = oldestPendingMs !== null && oldestPendingMs > maxAgeS * 1_000;
  return [
    ...(failedBatches > 0 ? [`${failedBatches} failed batches, see floodgate queue failed`] : []),
    ...(isLate ? [`the oldest pending batch or change is ${secondsText(oldestPendingMs)} old`] : []),
  ];
}

/** `workers` null: unknown. */
type QueueReading = Awaited<ReturnType<typeof readQueue>>;

/** Never rejects: a queue that is down is a result. */
async function readQueue(settings: QueueSettings) {
  const { UnsafeQueueError } = await import('@floodgate/queue');
  const name = (await import('./job.ts')).finalizeBatchesJob.queue;
  const problemOf = (error: unknown) => {
    if (error instanceof UnsafeQueueError) return error.message;
    throw error;
  };
  try {
    return await withQueue(settings, STATUS_DEADLINE_MS, async (queue) => {
      const problem = await queue.verify().then(() => null, problemOf);
      const state: QueueState = problem === null ? 'up' : 'unsafe';
      const [counts, workers] = await Promise.all([
        queue.counts(name),
        // Some servers do not let every user list the clients.
        queue.workers(name).catch(() => null),
      ]);
      return { name, state, problem, counts, workers };
    });
  } catch (error) {
    return { name, state: 'down' as QueueState, problem: reasonOf(error), counts: null, workers: null };
  }
}

const awayLines = ({ shardsAway }: Backlog) => (shardsAway === undefined ? [] : [awayText(shardsAway)]);

function backlogText({ pendingBatches, pendingChanges, failedBatches, oldestPendingMs }: Backlog): string {
  return record({
    'pending batches': pendingBatches,
    'pending changes': pendingChanges,
    'failed batches': failedBatches,
    'oldest pending': oldestPendingMs === null ? null : secondsText(oldestPendingMs),
  });
}

function queueText({ name, state, problem, counts, workers }: QueueReading): string {
  const numbers = [counts?.waiting, counts?.active, counts?.delayed, counts?.failed, workers].map(
    (n) => n ?? null,
  );
  const row = [name, ...numbers, problem === null ? state : `${state} (${problem})`];
  return table(['queue', 'waiting', 'active', 'delayed', 'failed', 'workers', 'state'], [row]);
}
