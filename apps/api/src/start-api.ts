import type { Logger, Service } from '@floodgate/service';
import { assertDurable, assertGranted, assertMigrated, connect } from '@floodgate/database';
import { openProducer, watchQueue } from '@floodgate/queue';
import { buildApi, closeApi } from './build-api.ts';
import type { ApiConfig } from './config.ts';
import { DRAW_WITHIN_MS, PermitStore } from '@floodgate/partners';
import { Doorbell, finalizeBatchesJob, finalizeJob, Registrar } from '@floodgate/registrations';

/** Confirmation may lag behind by this much under load; the answer to the partner never waits for it. */
const RING_INTERVAL_MS = 100;
/**
 * Of the time for an answer, what a batch may take. Less than all of it, so that Postgres' own word comes in time: what it
 * gave up was not reserved (90), and without that word nobody knows (91).
 */
const BATCH_SHARE = 2 / 3;
/** A read that takes longer is given up: what it says of a key might be outdated by then. */
const READ_WITHIN_MS = 1_000;

/**
 * Connections that may wait to be accepted (as far as the system allows: net.core.somaxconn). Past that, Linux forgets
 * what the client takes for open, and tells it only seconds later.
 */
const BACKLOG = 4_096;

/** Of the time that a stop may take, for clients that are slow; the rest is for answers, the queue and Postgres. */
const SLOW_CLIENTS_SHARE = 0.25;

/** Wires the API together and listens. Throws UnsafeQueueError where the queue could lose jobs already. */
export async function startApi(config: ApiConfig, log: Logger): Promise<Service & { baseUrl: string }> {
  const onIdleError = (err: Error) => log.warn({ err }, 'an idle Postgres connection was lost');
  const pool = (
    applicationName: string,
    maxConnections: number,
    statementTimeoutMs = config.ANSWER_WITHIN_MS,
    connectTimeoutMs?: number,
  ) =>
    connect({
      connectionString: config.DATABASE_URL,
      applicationName,
      maxConnections,
      prepareStatements: true,
      statementTimeoutMs,
      ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
      onIdleError,
    });
  // Apart from each other, so that reads can never make a reservation or a rate limit wait for a connection.
  const reservations = pool('floodgate-api reserve', 2, Math.round(config.ANSWER_WITHIN_MS * BATCH_SHARE));
  const reads = pool(
    'floodgate-api',
    config.READ_CONNECTIONS,
    Math.min(config.ANSWER_WITHIN_MS, READ_WITHIN_MS),
    // Together less than the time for an answer, when Postgres is stuck and every connection is taken.
    Math.min(config.ANSWER_WITHIN_MS, READ_WITHIN_MS),
  );
  // Connects only where a partner has a limit.
  const limits = pool('floodgate-api limits', 1, DRAW_WITHIN_MS);
  // One over each, so that the first requests find a connection there.
  await assertGranted(reservations, 'api');
  await assertDurable(reservations);
  await assertMigrated(reads);

  const producer = openProducer(config, [finalizeBatchesJob], log);
  const unwatch = await watchQueue(producer, {
    // Whoever serves needs no queue, and what is lost there the relay finds: no reason to end.
    onUnsafe: (err) => log.error({ err }, 'the queue could lose jobs'),
    onChange: (state, problem) => log.warn({ queue: state, problem }, `the queue is ${state}`),
  });
  const doorbell = new Doorbell((batchIds) => {
    // Not awaited and allowed to fail: the batch row is the outbox, and the relay rings again.
    producer.enqueue(finalizeJob(batchIds)).catch(() => {});
  }, RING_INTERVAL_MS);
  const registrar = new Registrar({
    db: reservations,
    log,
    batchLimit: config.BATCH_LIMIT,
    waitingLimit: config.WAITING_LIMIT,
    answerWithinMs: config.ANSWER_WITHIN_MS,
    onCommitted: (batchId) => doorbell.tellOf(batchId),
  });
  const app = await buildApi({
    db: reads,
    registrar,
    rateLimitStore: PermitStore.bind(null, limits, log),
    queue: producer,
    log,
  });
  const baseUrl = await app.listen({ host: config.HOST, port: config.PORT, backlog: BACKLOG });

  return {
    baseUrl,
    close: async () => {
      await closeApi(app, config.SHUTDOWN_TIMEOUT_MS * SLOW_CLIENTS_SHARE);
      await registrar.drain();
      doorbell.flush();
      unwatch();
      await producer.close();
      await Promise.all([reservations, reads, limits].map((db) => db.destroy()));
    },
  };
}
