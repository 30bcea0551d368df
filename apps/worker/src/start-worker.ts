import { assertReady, connectionsOf, openServicePool } from '@floodgate/database';
import { serveHealth, startPeriodicTasks, systemClock, type Logger } from '@floodgate/service';
import { Metrics } from '@floodgate/metrics';
import { reportProcess } from '@floodgate/operators';
import { openConsumer, openProducer, queueOptions, reportQueue, watchQueue } from '@floodgate/queue';
import manifest from '../package.json' with { type: 'json' };
import { CAPABILITIES } from './capabilities.ts';
import type { WorkerConfig } from './config.ts';
import { judge, readProgress } from './health.ts';
import { reportProgress } from './metrics.ts';

/** For handlers, periodic tasks and health checks. The pool opens connections on demand. */
const POOL = { maxConnections: 10, statementTimeoutMs: 10_000 };
/** Share of the time for a stop that running jobs get. The rest is for the queue and Postgres. */
const JOBS_SHARE = 0.8;

/** Opens the capabilities and starts to work. Throws UnsafeQueueError if the queue could lose jobs. */
export async function startWorker(
  config: WorkerConfig,
  log: Logger,
  capabilities = CAPABILITIES,
  clock = systemClock,
) {
  // Closed in reverse order: here if the start fails, otherwise by the caller.
  await using opened = new AsyncDisposableStack();
  const server = { service: 'worker', connectionString: config.DATABASE_URL, log } as const;
  const db = opened.use(openServicePool(server, POOL));
  await assertReady(db, 'worker');
  const producer = openProducer(queueOptions(config, log));
  opened.defer(() => producer.close());
  const metrics = new Metrics('worker');
  const works = capabilities.map((one) => one.open({ db, log, metrics, producer, config, clock }));
  const consumer = openConsumer({
    ...queueOptions(config, log),
    clock,
    jobs: works.flatMap(({ jobs }) => jobs),
    onJobFailed: ({ error, ...job }) => log.warn({ err: error, ...job }, 'a job failed'),
  });
  opened.defer(await watchQueue(consumer, log));
  const self = { service: 'worker', version: manifest.version } as const;
  const report = reportProcess(db, self, () => ({ queue: consumer.problem() === null ? 'up' : 'down' }));
  opened.defer(report.end);
  const tasks = startPeriodicTasks([...works.flatMap((work) => work.tasks), report], log, clock);
  const stopJobs = () => consumer.close(config.SHUTDOWN_TIMEOUT_MS * JOBS_SHARE);
  // Concurrently: either may take most of the time.
  opened.defer(async () => void (await Promise.all([stopJobs(), tasks.stop()])));
  const backlogs = Object.fromEntries(works.flatMap((work) => Object.entries(work.backlogs ?? {})));
  const read = () => readProgress(consumer, producer, tasks, backlogs);
  reportProgress(metrics, read);
  reportQueue(metrics, consumer);
  metrics.pools([['main', db]], connectionsOf);
  const readHealth = async () => judge(await read(), config.STALLED_AFTER_MS);
  const { WORKER_HOST: host, WORKER_PORT: port } = config;
  opened.use(await serveHealth({ host, port, readHealth, metrics }));
  log.info('working');
  return opened.move();
}
