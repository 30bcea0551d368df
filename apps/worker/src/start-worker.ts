import { once } from 'node:events';
import { type Logger, type Service, repeat, serveHealth } from '@floodgate/service';
import { assertGranted, assertMigrated, connect, explainRefusals, type Database } from '@floodgate/database';
import { Consumer, Producer, queueOptions, watchQueue } from '@floodgate/queue';
import { CAPABILITIES } from './capabilities.ts';
import type { WorkerConfig } from './config.ts';
import { judge, readProgress } from './health.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
/** Of handlers, rounds and health together. They are opened as they are needed. */
const MAX_CONNECTIONS = 10;

/** Wires the worker together and starts it. Throws UnsafeQueueError where the queue could lose jobs already. */
export async function startWorker(
  config: WorkerConfig,
  log: Logger,
  capabilities = CAPABILITIES,
): Promise<Service> {
  const definitions = capabilities.flatMap((capability) => capability.jobs);
  const db = await openDatabase(config, log);
  const producer = new Producer(queueOptions(config, definitions, log));
  const works = capabilities.map((capability) => capability.open({ db, log, producer, config }));
  const queues = config.WORKER_QUEUES.split(',');
  const jobs = works.flatMap((work) => work.jobs).filter(({ queue }) => queues.includes(queue));
  const consumer = new Consumer({
    ...queueOptions(config, jobs, log),
    onJobFailed: ({ error, ...job }) => log.warn({ err: error, ...job }, 'a job failed'),
  });
  const unwatch = await watchQueue(consumer, log);
  const rounds = works
    .flatMap((work) => work.rounds)
    .map((round) => {
      const onError = (err: Error) => log.warn({ err, task: round.name }, 'a round failed; it is repeated');
      return { ...round, ...repeat(round.run, round.intervalMs, onError) };
    });
  const backlogs = Object.fromEntries(works.flatMap((work) => Object.entries(work.backlogs ?? {})));
  const moving = { consumer, producer, rounds, backlogs };
  const health = serveHealth({
    readHealth: async () => judge(await readProgress(moving), config.STALLED_AFTER_MS),
  });
  health.listen(config.WORKER_PORT, config.WORKER_HOST);
  await once(health, 'listening');
  log.info({ queues: config.WORKER_QUEUES }, 'working');

  return {
    close: async () => {
      // A little less than the process is given, so that connections can still be closed in order.
      const consumed = consumer.close(config.SHUTDOWN_TIMEOUT_MS * 0.8);
      await Promise.all([consumed, ...rounds.map((round) => round.stop())]);
      unwatch();
      health.close();
      health.closeAllConnections();
      await producer.close();
      await db.destroy();
    },
  };
}

async function openDatabase(config: WorkerConfig, log: Logger): Promise<Database> {
  const db = connect({
    connectionString: config.DATABASE_URL,
    applicationName: 'floodgate-worker',
    maxConnections: MAX_CONNECTIONS,
    prepareStatements: true,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleError: (err) => log.warn({ err }, 'an idle Postgres connection was lost'),
    onRefusal: explainRefusals('worker', log),
  });
  await assertGranted(db, 'worker');
  await assertMigrated(db);
  return db;
}
