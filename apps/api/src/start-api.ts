import { readFile } from 'node:fs/promises';
import { assertReady, createShardReads, openServicePool, readAtOnce, shardIds } from '@floodgate/database';
import { buildApi, parseReferenceDemo, type ApiContext, type OpenCapability } from '@floodgate/http';
import { openProducer, queueOptions, watchQueue } from '@floodgate/queue';
import type { Logger } from '@floodgate/service';
import { CAPABILITIES } from './capabilities.ts';
import type { ApiConfig } from './config.ts';

/** A read that takes longer is given up: what it says of a key might be outdated by then. */
const READ_WITHIN_MS = 1_000;
/** In a Citus cluster, for reads that wait for servers which do not answer: one for each of their shards. */
const WAITING_CONNECTIONS = 60;
// Connections that may wait to be accepted (as far as the system allows: net.core.somaxconn). Past that, Linux forgets what
// the client takes for open, and tells it only seconds later.
const BACKLOG = 4_096;
/** Of the time that a stop may take, for clients that are slow; the rest is for answers, the queue and Postgres. */
const SLOW_CLIENTS_SHARE = 0.25;

/** Opens the capabilities and listens. Throws UnsafeQueueError where the queue could lose jobs already. */
export async function startApi(config: ApiConfig, log: Logger) {
  // Closed in reverse, here where the start fails, and else by close().
  await using opened = new AsyncDisposableStack();
  const server = { service: 'api', connectionString: config.DATABASE_URL, log } as const;
  const openPool: ApiContext['openPool'] = (options) => opened.use(openServicePool(server, options));
  const answerWithinMs = config.ANSWER_WITHIN_MS;
  const start = openPool({ purpose: 'start', maxConnections: 1, statementTimeoutMs: answerWithinMs });
  await assertReady(start, 'api');
  const readWithinMs = Math.min(answerWithinMs, READ_WITHIN_MS);
  const hasShards = (await shardIds(start)).length > 1;
  const shardReads = hasShards ? createShardReads(config.READ_CONNECTIONS) : readAtOnce;
  const reads = openPool({
    purpose: '',
    maxConnections: config.READ_CONNECTIONS + (hasShards ? WAITING_CONNECTIONS : 0),
    // Together less than the time for an answer, when Postgres is stuck and every connection is taken.
    connectTimeoutMs: readWithinMs,
    statementTimeoutMs: readWithinMs,
  });
  const producer = openProducer(queueOptions(config, log));
  opened.adopt(producer, () => producer.close());
  opened.defer(await watchQueue(producer, log));
  const capabilities: OpenCapability[] = [];
  for (const face of CAPABILITIES) {
    const context = { log, reads, shardReads, openPool, producer, answerWithinMs };
    const capability = await face.open(context, config);
    opened.defer(() => capability.close?.());
    capabilities.push(capability);
  }
  const contactUrl = config.CONTACT_URL;
  const demo = config.DEMO_FILE ? parseReferenceDemo(await readFile(config.DEMO_FILE, 'utf8')) : undefined;
  const closeWithinMs = config.SHUTDOWN_TIMEOUT_MS * SLOW_CLIENTS_SHARE;
  const app = await buildApi({ log, reads, queue: producer, closeWithinMs, capabilities, contactUrl, demo });
  opened.defer(() => app.close());
  const baseUrl = await app.listen({ host: config.HOST, port: config.PORT, backlog: BACKLOG });
  log.info(`listening at ${baseUrl}`);
  return Object.assign(opened.move(), { baseUrl });
}
