import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { withInput } from '@floodgate/audit/commands';
import {
  onRun,
  onChangeRun,
  loadSettings,
  parseId,
  parseLimit,
  parseSeconds,
  parseText,
  reasonOf,
  record,
  tableOf,
  withDatabase,
  type Cli,
  type CliSettings,
} from '@floodgate/command';
import type { Database } from '@floodgate/database';
import { awayText } from '@floodgate/database/reads/shards';
import type { Lag } from '@floodgate/journal';
import type { QueueBacklog } from '@floodgate/queue';
import { queryCommands } from '@floodgate/operators/commands';
import { found, textOf, type Finding } from '@floodgate/operators/findings';
import { withDeadline } from '@floodgate/service/deadline';
import { FINDING_TEXTS, secondsText } from './finding-texts.ts';

const STATUS_DEADLINE_MS = 3_000;
const LOOK_INTERVAL_MS = 100;
const CLOSE_DEADLINE_MS = 500;

/** Called when a command runs, so that the other commands start quickly. */
const load = () => import('./backlog.ts');

/** Resolves to what else is wrong. */
export type StatusCheck = (db: Database) => Promise<readonly Finding[]>;

/** `floodgate status` */
export function addStatusCommand(program: Command, cli: Cli, checks: readonly StatusCheck[]) {
  const status = program
    .command('status')
    .description(
      'backlog of Postgres, the queue and deliveries; exit 1 if something waits too long, a batch has ' +
        'failed, deliveries fail, a process or a server is down, or doors need attention',
    )
    .option('--check', 'print only what is wrong')
    .option(
      '--max-age <seconds>',
      'exit 1 if something is older than this: a pending batch or change, or an entry that was not tried to deliver',
      parseSeconds,
      // A batch is finalized within a second. An operator should see one that is retried for longer.
      60,
    );
  onRun(status, cli, async ({ check, maxAge }) => {
    const { findingsOfWork, readWork } = await import('./findings.ts');
    const { findingsOfProcesses, readProcesses } = await import('@floodgate/operators');
    const settings = await loadSettings(cli.env, true);
    const [{ work, processes, others }, queue] = await Promise.all([
      withDatabase(settings.databaseUrl, STATUS_DEADLINE_MS, async (db) => ({
        work: await readWork(db),
        processes: await readProcesses(db),
        others: await Promise.all(checks.map((checkOther) => checkOther(db))),
      })),
      readQueue(settings.queue!),
    ]);
    const findings: Finding[] = [
      ...findingsOfQueue(queue),
      // The command looks at the queue itself.
      ...findingsOfProcesses(processes).filter(({ code }) => code !== 'queueDown'),
      ...findingsOfWork(work, maxAge * 1_000),
      ...others.flat(),
    ];
    const problems = findings.map((finding) => textOf(FINDING_TEXTS, finding));
    const {
      deliveries: { shardsAway: _, ...deliveries },
      ...backlog
    } = work;
    const text = check
      ? [problems.length === 0 ? 'ok' : 'not ok']
      : [backlogText(backlog), queueText(queue), ...deliveriesText(deliveries)];
    const document = { postgres: backlog, queues: [queue], deliveries };
    return {
      document,
      text: text.join('\n\n'),
      ...(problems.length > 0 && { failure: problems.join('; ') }),
    };
  });
}

/** `floodgate queue …` */
export function addQueueCommands(program: Command, cli: Cli, checks: readonly StatusCheck[]) {
  const commands = program.command('queue').description('backlog of the worker and of deliveries');
  addStatusCommand(commands, cli, checks);
  const queryCommand = queryCommands(
    commands,
    cli,
    async () => (await import('../console.ts')).queueOperations,
  );
  queryCommand(
    'failed',
    (operations) => operations.batchFailed,
    ({ failed, away }) => {
      const rows = failed.map(({ batchId: batch, eventIds, registrations, failedAt, reason, ageMs }) => {
        const events = eventIds.join(', ');
        return { batch, events, registrations, failedAt, reason, age: secondsText(ageMs) };
      });
      return {
        document: failed,
        text: failed.length === 0 ? 'no batch has failed' : tableOf(rows),
        ...(away.length > 0 && { failure: awayText(away) }),
      };
    },
  )
    .description('failed batches, the oldest first; see redrive')
    .option('--event <id>', 'only those with registrations for this event', parseId)
    .option('--reason <code>', 'only those with this reason', parseText)
    .option('--limit <batches>', 'at most this many', parseLimit, 100);
  queryCommand(
    'failing',
    (operations) => operations.consumerFailing,
    (consumers) => {
      const rows = consumers.map(({ kind, eventId: event, partnerId, id, state, failures, failingSince }) => {
        const partner = partnerId === 0 ? 'all' : partnerId;
        return { kind, event, partner, id, state, failures, failingSince };
      });
      return { document: consumers, text: rows.length === 0 ? 'nothing fails' : tableOf(rows) };
    },
  )
    .description('e-mails of events and webhooks that fail or are disabled, the oldest failure first')
    .option('--limit <consumers>', 'at most this many', parseLimit, 100);
}

const findingsOfQueue = ({ state, workers }: Pick<QueueState, 'state' | 'workers'>) =>
  [
    state === 'down' && found('queueDown', {}),
    state === 'unsafe' && found('queueUnsafe', {}),
    workers === 0 && found('queueWithoutWorker', {}),
  ].filter((finding) => finding !== false);

/** Returns the state of the queue. Never rejects: `down` is a result. `workers` is null if unknown. */
async function readQueue(settings: NonNullable<CliSettings['queue']>) {
  const { openProducer, UnsafeQueueError } = await import('@floodgate/queue');
  const { queue: name } = (await import('./queue-notifier.ts')).finalizeBatchesJob;
  const queue = openProducer({ ...settings, onError: () => {} });
  const problemOf = (error: unknown) => {
    if (error instanceof UnsafeQueueError) return error.message;
    throw error;
  };
  async function read() {
    const problem = await queue.verify().then(() => null, problemOf);
    const counts = await queue.counts(name);
    // Some servers do not let every user list the clients.
    const workers = await queue.workers(name).catch(() => null);
    return { state: problem === null ? 'up' : 'unsafe', problem, counts, workers };
  }
  // A queue that accepts connections and never answers must not block the command.
  const noAnswer = () => {
    throw new Error('no answer');
  };
  const answer = await withDeadline(read(), STATUS_DEADLINE_MS, noAnswer).catch((error: unknown) => {
    // The error of the connection says more than "no answer".
    const problem = queue.problem() ?? reasonOf(error);
    return { state: 'down', problem, counts: null, workers: null };
  });
  await withDeadline(queue.close(), CLOSE_DEADLINE_MS, () => {}).catch(() => {});
  return { name, ...answer };
}

type QueueState = Awaited<ReturnType<typeof readQueue>>;

const backlogText = ({ pendingBatches, pendingChanges, failedBatches, oldestPendingMs }: QueueBacklog) =>
  record({
    'pending batches': pendingBatches,
    'pending changes': pendingChanges,
    'failed batches': failedBatches,
    'oldest pending': secondsText(oldestPendingMs),
  });

function queueText({ name, state, problem, counts, workers }: QueueState) {
  const { waiting = null, active = null, delayed = null, failed = null } = counts ?? {};
  const stateText = problem === null ? state : `${state} (${problem})`;
  return tableOf([{ queue: name, waiting, active, delayed, failed, workers, state: stateText }]);
}

function deliveriesText(lags: Record<string, Lag>) {
  const rows = Object.entries(lags).map(([deliveries, { oldestMs, oldestRetryMs, ...counts }]) => {
    const ages = { oldestUndelivered: secondsText(oldestMs), oldestRetried: secondsText(oldestRetryMs) };
    return { deliveries, ...counts, ...ages };
  });
  return rows.length === 0 ? [] : [tableOf(rows)];
}

/** `floodgate redrive` */
export function addRedriveCommand(program: Command, cli: Cli) {
  const redrive = program
    .command('redrive')
    .description('retry failed batches and report the result')
    .argument('[batchIds...]', 'only these', parseIds)
    .option('--event <id>', 'only those with registrations for this event', parseId)
    .option('--reason <code>', 'only those with this reason', parseText)
    .option('--limit <batches>', 'at most this many, oldest first', parseLimit, 1_000)
    .option('--wait <seconds>', 'how long to wait for the result', parseSeconds, 10);
  onChangeRun(redrive, cli, async (db, actor) => {
    const { RedriveSelection, redriveShards } = await import('../actions.ts');
    const { readBacklog } = await load();
    const { batchIds, away } = await withInput(redrive, RedriveSelection, (given) =>
      redriveShards(db, given, actor),
    );
    const { confirmed, failed } = await outcomeOf(db, batchIds, redrive.opts().wait * 1_000);
    const { failedBatches: stillFailed } = await readBacklog(db);
    const redriven = batchIds.length;
    const pending = redriven - confirmed - failed;
    return {
      document: { redriven, confirmed, failedAgain: failed, pending, stillFailed, batchIds },
      text:
        redriven === 0
          ? 'nothing to redrive: no such batch has failed'
          : `redriven: ${redriven} (${confirmed} confirmed, ${failed} failed again, ${pending} still pending); ` +
            `failed in total: ${stillFailed}`,
      ...(away.length > 0 && { failure: awayText(away) }),
    };
  });
}

const parseIds = (text: string, before: string[] = []) => [...before, text.toLowerCase()];

/**
 * Waits until a worker has confirmed or failed all of these batches, at most `waitMs`. Returns how many are
 * in each state.
 */
async function outcomeOf(db: Database, batchIds: readonly string[], waitMs: number) {
  const { countStates } = await load();
  const deadline = performance.now() + waitMs;
  for (;;) {
    const states = await countStates(db, batchIds);
    if (states.pending === 0 || performance.now() >= deadline) return states;
    await delay(LOOK_INTERVAL_MS);
  }
}
