import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, type Service, repeat } from '@floodgate/service';
import { assertGranted, assertMigrated, connect, explainRefusals, type Database } from '@floodgate/database';
import {
  readBacklog,
  expireIdempotencyKeys,
  finalizeBatches,
  relayDueBatches,
} from '@floodgate/registrations';
import { Consumer, parseQueueUrl, Producer, watchQueue, type QueueCounts } from '@floodgate/queue';
import { concurrencyOf, type WorkerConfig } from './config.ts';
import { judge, serveHealth } from './health.ts';

const EXPIRY_INTERVAL_MS = 60_000;
const STATEMENT_TIMEOUT_MS = 10_000;
const COUNT_WITHIN_MS = 500;
/** Connections beside those of the handlers: relay, expiry, health. */
const OTHER_CONNECTIONS = 3;
const MAX_CONNECTIONS = 10;

/** Wires the worker together and starts it. Throws UnsafeQueueError where the queue could lose jobs already. */
export async function startWorker(config: WorkerConfig, log: Logger): Promise<Service> {
  const db = await openDatabase(config, log);
  const producer = openProducer(config, log);
  const consumer = openConsumer(config, log, db);
  const unwatch = await watchQueue(consumer, {
    // It goes on: the relay finds what is lost there, and a worker that has ended would finalize nothing at all.
    onUnsafe: (err) => log.error({ err }, 'the queue could lose jobs'),
    onChange: (state) => log.warn({ queue: state }, `the queue is ${state}`),
  });
  const reportError = (task: string) => (err: Error) =>
    log.warn({ err, task }, 'a round failed; it is repeated');
  const relay = repeat(() => relayDueBatches(db, producer), config.RELAY_INTERVAL_MS, reportError('relay'));
  const expiry = repeat(() => expireIdempotencyKeys(db), EXPIRY_INTERVAL_MS, reportError('expiry'));
  const health = serveHealth(async () =>
    judge(
      {
        idleMs: Math.round(consumer.idleMs()),
        sinceRelayRoundMs: Math.round(relay.sinceLastRoundMs()),
        queue: consumer.isUp() ? 'up' : 'down',
        jobs: await countJobs(producer),
        backlog: await readBacklog(db).catch(() => null),
      },
      config.STALLED_AFTER_MS,
    ),
  );
  health.listen(config.WORKER_PORT, config.WORKER_HOST);
  await once(health, 'listening');
  log.info({ queues: config.WORKER_QUEUES }, 'working');

  return {
    close: async () => {
      // A little less than the process is given, so that connections can still be closed in order.
      await Promise.all([relay.stop(), expiry.stop(), consumer.close(config.SHUTDOWN_TIMEOUT_MS * 0.8)]);
      unwatch();
      health.close();
      health.closeAllConnections();
      await producer.close();
      await db.destroy();
    },
  };
}

/** Null where the queue does not answer before whoever probes the worker's health loses patience. */
async function countJobs(producer: Producer): Promise<QueueCounts | null> {
  if (!producer.isUp()) return null;
  const counts = producer.counts('finalize').catch(() => null);
  return Promise.race([counts, delay(COUNT_WITHIN_MS, null, { ref: false })]);
}

async function openDatabase(config: WorkerConfig, log: Logger): Promise<Database> {
  const db = connect({
    connectionString: config.DATABASE_URL,
    applicationName: 'floodgate-worker',
    maxConnections: Math.min(config.FINALIZE_CONCURRENCY + OTHER_CONNECTIONS, MAX_CONNECTIONS),
    prepareStatements: true,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleError: (err) => log.warn({ err }, 'an idle Postgres connection was lost'),
    onRefusal: explainRefusals('worker', log),
  });
  await assertGranted(db, 'worker');
  await assertMigrated(db);
  return db;
}

function openProducer(config: WorkerConfig, log: Logger): Producer {
  return new Producer({
    target: parseQueueUrl(config.QUEUE_URL),
    namespace: config.QUEUE_NAMESPACE,
    retry: { attempts: config.FINALIZE_ATTEMPTS, backoffMs: config.FINALIZE_BACKOFF_MS },
    onError: (err) => log.debug({ err }, 'queue connection'),
  });
}

function openConsumer(config: WorkerConfig, log: Logger, db: Database): Consumer {
  return new Consumer({
    target: parseQueueUrl(config.QUEUE_URL),
    namespace: config.QUEUE_NAMESPACE,
    concurrency: concurrencyOf(config),
    handlers: { 'finalize-batches': finalizeBatches({ db, log }) },
    onJobFailed: ({ error, ...job }) => log.warn({ err: error, ...job }, 'a job failed'),
    onError: (err) => log.debug({ err }, 'queue connection'),
  });
}
