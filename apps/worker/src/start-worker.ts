import { once } from 'node:events';
import { connectService } from '@floodgate/database';
import { serveHealth, startRounds, type Logger, type Service } from '@floodgate/service';
import { Consumer, Producer, queueOptions, watchQueue } from '@floodgate/queue';
import { CAPABILITIES } from './capabilities.ts';
import type { WorkerConfig } from './config.ts';
import { judge, readProgress } from './health.ts';
import { metricsText } from './metrics.ts';

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
  const db = await connectService(
    { service: 'worker', connectionString: config.DATABASE_URL, log },
    { maxConnections: MAX_CONNECTIONS, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );
  const producer = new Producer(queueOptions(config, definitions, log));
  const works = capabilities.map((capability) => capability.open({ db, log, producer, config }));
  const queues = config.WORKER_QUEUES.split(',');
  const jobs = works.flatMap((work) => work.jobs).filter(({ queue }) => queues.includes(queue));
  const consumer = new Consumer({
    ...queueOptions(config, jobs, log),
    onJobFailed: ({ error, ...job }) => log.warn({ err: error, ...job }, 'a job failed'),
  });
  const unwatch = await watchQueue(consumer, log);
  const rounds = startRounds(
    works.flatMap((work) => work.rounds),
    log,
  );
  const backlogs = Object.fromEntries(works.flatMap((work) => Object.entries(work.backlogs ?? {})));
  const moving = { consumer, producer, rounds, backlogs };
  const health = serveHealth({
    readHealth: async () => judge(await readProgress(moving), config.STALLED_AFTER_MS),
    readMetrics: async () => metricsText(await readProgress(moving)),
  });
  health.listen(config.WORKER_PORT, config.WORKER_HOST);
  await once(health, 'listening');
  log.info({ queues: config.WORKER_QUEUES }, 'working');

  return {
    close: async () => {
      // A little less than the process is given, so that connections can still be closed in order.
      const consumed = consumer.close(config.SHUTDOWN_TIMEOUT_MS * 0.8);
      await Promise.all([consumed, rounds.stop()]);
      unwatch();
      health.close();
      health.closeAllConnections();
      await producer.close();
      await db.destroy();
    },
  };
}
