import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import {
  answering,
  answeringChange,
  answeringFromDatabase,
  loadSettings,
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
import type { BatchState, Database } from '@floodgate/database';
import { awayText } from '@floodgate/database/reads/shards';
import type { Lag, Lags } from '@floodgate/journal';
import type { Backlog } from './batch-statements.ts';
import type { FailedBatch } from './failed-batches.ts';

const STATUS_DEADLINE_MS = 3_000;
const TIDY_UP_DEADLINE_MS = 5_000;
/** How often a redrive looks what has become of its batches. */
const LOOK_INTERVAL_MS = 100;
/** A batch is finalized within a second. One that is retried needs longer, and an operator should know of it. */
const MAX_AGE_S = 60;

type QueueState = 'up' | 'unsafe' | 'down';

/** `floodgate queue …` */
export function addQueueCommands(program: Command, cli: Cli): void {
  const commands = program
    .command('queue')
    .description('what waits: for the worker, and to be delivered to attendees and partners');
  const status = commands
    .command('status')
    .description(
      'what is waiting, as Postgres and the queue know it, and what was not delivered yet; exit 1 where batches wait too long, batches have failed, no worker is connected, or something is down',
    )
    .option(
      '--max-age <seconds>',
      'exit 1 where the oldest pending batch is older than this',
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
    .description('batches that finalization gave up, the oldest first; see redrive')
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

/** What a person reads of a batch. */
const rowOf = ({ batchId, eventIds, registrations, ageMs, failedAt, reason }: FailedBatch) => ({
  batch: batchId,
  events: eventIds.join(', '),
  registrations,
  'failed at': failedAt,
  age: secondsText(ageMs),
  reason,
});

const secondsText = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Who delivers what has become of registrations, where there is anybody. */
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
    ...(isLate ? [`the oldest pending batch is ${secondsText(oldestPendingMs)} old`] : []),
  ];
}

/** How the queue is, and why it is not simply up. `workers` null: unknown. */
type QueueReading = Awaited<ReturnType<typeof readQueue>>;

/** Never rejects: that the queue is down is what an operator wants to see. */
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
        // Some servers do not let everybody list their clients.
        queue.workers(name).catch(() => null),
      ]);
      return { name, state, problem, counts, workers };
    });
  } catch (error) {
    return { name, state: 'down' as QueueState, problem: reasonOf(error), counts: null, workers: null };
  }
}

/** Which shards the backlog does not speak of, where there are any. */
const awayLines = ({ shardsAway }: Backlog) => (shardsAway === undefined ? [] : [awayText(shardsAway)]);

function backlogText({ pendingBatches, failedBatches, oldestPendingMs }: Backlog): string {
  return record({
    'pending batches': pendingBatches,
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

/** `floodgate redrive` */
export function addRedriveCommand(program: Command, cli: Cli): void {
  const redrive = program
    .command('redrive')
    .description('give failed batches another go, and say what became of them')
    .argument('[batchIds...]', 'only these', parseIds)
    .option('--event <id>', 'only those with registrations for this event', parseId)
    .option('--limit <batches>', 'at most this many, oldest first', parseLimit, 1_000)
    .option('--wait <seconds>', 'how long to wait for what becomes of them', parseSeconds, 10);
  answeringChange(redrive, cli, async (db, actor, { event, limit, wait }, wanted) => {
    const { redriveShards } = await import('../actions.ts');
    const { readBacklog } = await import('./batch-statements.ts');
    const selection = {
      limit,
      ...(wanted.length > 0 && { batchIds: wanted }),
      ...(event !== undefined && { eventId: event }),
    };
    const { batchIds, away } = await redriveShards(db, selection, actor);
    await forgetFailedJobs(cli, batchIds);
    const { confirmed = 0, failed = 0 } = await outcomeOf(db, batchIds, wait * 1_000);
    const { failedBatches: stillFailed } = await readBacklog(db);
    const redriven = batchIds.length;
    const pending = redriven - confirmed - failed;
    return {
      document: { redriven, confirmed, failedAgain: failed, pending, stillFailed, batchIds },
      text:
        redriven === 0
          ? 'nothing to redrive: no such batch has failed'
          : `redriven: ${redriven} (${confirmed} confirmed, ${failed} failed again, ${pending} still pending); failed altogether: ${stillFailed}`,
      ...(away.length > 0 && { failure: awayText(away) }),
    };
  });
}

const parseIds = (text: string, before: string[] = []) => [...before, text.toLowerCase()];

/** Waits until a worker has finalized or given up all of these batches, but no longer than this. */
async function outcomeOf(
  db: Database,
  batchIds: readonly string[],
  waitMs: number,
): Promise<Partial<Record<BatchState, number>>> {
  const { countStates } = await import('./failed-batches.ts');
  const deadline = performance.now() + waitMs;
  for (;;) {
    const states = await countStates(db, batchIds);
    if (!states.pending || performance.now() >= deadline) return states;
    await delay(LOOK_INTERVAL_MS);
  }
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
  await withQueue(settings, TIDY_UP_DEADLINE_MS, async (queue) => {
    await queue.verify();
    await queue.removeFailed(finalizeBatchesJob.queue, (payload) => speaksOf(payload, redriven));
  }).catch(() => undefined);
}
