import { assertReady, connectionsOf, openServicePool } from '@floodgate/database';
import { serveHealth, startPeriodicTasks, type Logger } from '@floodgate/service';
import { reportProcess } from '@floodgate/operators';
import { openConsumer, openProducer, queueOptions, watchQueue } from '@floodgate/queue';
import manifest from '../package.json' with { type: 'json' };
import { CAPABILITIES } from './capabilities.ts';
import type { WorkerConfig } from './config.ts';
import { judge, readProgress } from './health.ts';
import { createMetrics } from './metrics.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
/** For handlers, periodic tasks and health checks. The pool opens connections on demand. */
const MAX_CONNECTIONS = 10;
/** Share of the time for a stop that running jobs get. The rest is for the queue and Postgres. */
const JOBS_SHARE = 0.8;

/** Opens the capabilities and starts to work. Throws UnsafeQueueError if the queue could lose jobs. */
export async function startWorker(config: WorkerConfig, log: Logger, capabilities = CAPABILITIES) {
  // Closed in reverse order: here if the start fails, otherwise by the caller.
  await using opened = new AsyncDisposableStack();
  const server = { service: 'worker', connectionString: config.DATABASE_URL, log } as const;
  const limits = { maxConnections: MAX_CONNECTIONS, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const db = opened.use(openServicePool(server, limits));
  await assertReady(db, 'worker');
  const producer = openProducer(queueOptions(config, log));
  opened.defer(() => producer.close());
  const works = capabilities.map((one) => one.open({ db, log, producer, config }));
  const consumer = openConsumer({
    ...queueOptions(config, log),
    jobs: works.flatMap(({ jobs }) => jobs),
    onJobFailed: ({ error, ...job }) => log.warn({ err: error, ...job }, 'a job failed'),
  });
  opened.defer(await watchQueue(consumer, log));
  const report = reportProcess(db, { service: 'worker', version: manifest.version }, () => ({
    queue: consumer.problem() === null ? 'up' : 'down',
  }));
  const allTasks = works.flatMap((work) => work.tasks);
  const tasks = startPeriodicTasks([...allTasks, report], log);
  const stopJobs = () => consumer.close(config.SHUTDOWN_TIMEOUT_MS * JOBS_SHARE);
  // Concurrently: either may take most of the time.
  opened.defer(async () => void (await Promise.all([stopJobs(), tasks.stop()])));
  const backlogs = Object.fromEntries(works.flatMap((work) => Object.entries(work.backlogs ?? {})));
  const read = () => readProgress(consumer, producer, tasks, backlogs);
  const metrics = createMetrics(read);
  metrics.pools([['main', db]], connectionsOf);
  const health = await serveHealth({
    host: config.WORKER_HOST,
    port: config.WORKER_PORT,
    readHealth: async () => judge(await read(), config.STALLED_AFTER_MS),
    metrics,
  });
  opened.use(health);
  log.info('working');
  return opened.move();
}
