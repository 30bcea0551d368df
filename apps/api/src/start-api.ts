import {
  assertReady,
  connectionsOf,
  createShardReads,
  openServicePool,
  ping,
  readAtOnce,
  shardIds,
  type Database,
} from '@floodgate/database';
import {
  buildApi,
  drain,
  recentRefusals,
  refusals,
  refusalsOfEvents,
  type ApiContext,
  type OpenCapability,
} from '@floodgate/http';
import { Metrics } from '@floodgate/metrics';
import { openProducer, queueOptions, reportQueue, watchQueue } from '@floodgate/queue';
import { reportProcess } from '@floodgate/operators';
import { serveHealth, startPeriodicTasks, systemClock, type Logger } from '@floodgate/service';
import manifest from '../package.json' with { type: 'json' };
import { CAPABILITIES } from './capabilities.ts';
import type { ApiConfig } from './config.ts';

/**
 * On a Citus cluster, additional connections for reads that wait for a server: at most one per shard of a
 * server that does not answer.
 */
const WAITING_CONNECTIONS = 60;
// Limit of connections that wait for accept(), unless net.core.somaxconn is lower. Beyond this, Linux drops
// connections that the client believes to be open, and the client learns it seconds later.
const BACKLOG = 4_096;
/** Share of the time for a stop that slow clients get. The rest is for answers, the queue and Postgres. */
const CLOSE_SHARE = 0.25;
/** Nobody waits for a start: on a busy machine it is better late than repeated. */
const START_WITHIN_MS = 10_000;

/** Returns what a process with these capabilities reports about itself. */
function factsOf(capabilities: readonly OpenCapability[]) {
  const counted = {
    refused: refusals,
    refusedOf: refusalsOfEvents(),
    refusedPartners: recentRefusals.read(),
  };
  return Object.assign(counted, ...capabilities.map((one) => one.facts?.())) as Record<string, unknown>;
}

/**
 * Opens the capabilities and listens. Throws UnsafeQueueError if the queue could lose jobs. The clock decides
 * about limits, breakers and the age of cached reads. Timeouts of connections and of the shutdown are real.
 */
export async function startApi(config: ApiConfig, log: Logger, clock = systemClock) {
  // Closed in reverse order: here if the start fails, otherwise by the caller.
  await using opened = new AsyncDisposableStack();
  const server = { service: 'api', connectionString: config.DATABASE_URL, log } as const;
  const metrics = config.METRICS_PORT === 0 ? undefined : new Metrics('api');
  const pools = new Map<string, Database>();
  const openPool: ApiContext['openPool'] = ({ purpose = '', ...options }) => {
    const pool = opened.use(openServicePool(server, { purpose, ...options }));
    pools.set(purpose || 'read', pool);
    return pool;
  };
  const { ANSWER_WITHIN_MS: answerWithinMs, READ_CONNECTIONS: connections } = config;
  const start = openPool({
    purpose: 'start',
    maxConnections: 1,
    connectTimeoutMs: START_WITHIN_MS,
    statementTimeoutMs: START_WITHIN_MS,
  });
  await assertReady(start, 'api');
  const readWithinMs = Math.min(answerWithinMs, config.READ_WITHIN_MS);
  const hasShards = (await shardIds(start)).length > 1;
  const shardReads = hasShards ? createShardReads(connections, clock) : readAtOnce;
  const reads = openPool({
    maxConnections: connections + (hasShards ? WAITING_CONNECTIONS : 0),
    // Their sum is less than the time for an answer, even if Postgres hangs and all connections are in use.
    connectTimeoutMs: readWithinMs,
    statementTimeoutMs: readWithinMs,
  });
  // Opened now: the first callers, often the first of a launch, would wait for it.
  await Promise.all(Array.from({ length: connections }, () => ping(reads)));
  const producer = openProducer(queueOptions(config, log));
  opened.adopt(producer, () => producer.close());
  opened.defer(await watchQueue(producer, log));
  const capabilities: OpenCapability[] = [];
  for (const capability of CAPABILITIES) {
    const limits = { answerWithinMs, readWithinMs };
    const context = { log, metrics, reads, shardReads, openPool, producer, clock, ...limits };
    const open = await capability.open(context, config);
    opened.defer(() => open.close?.());
    capabilities.push(open);
  }
  const facts = () => factsOf(capabilities);
  const report = reportProcess(reads, { service: 'api', version: manifest.version }, facts);
  opened.defer(report.end);
  opened.defer(startPeriodicTasks([report], log, clock).stop);
  const { CONTACT_URL: contactUrl, DEMO_FILE: demoFile } = config;
  const closeWithinMs = config.SHUTDOWN_TIMEOUT_MS * CLOSE_SHARE;
  const hasAccessLog = config.ACCESS_LOG === 'true';
  const parts = { log, metrics, reads, hasAccessLog, closeWithinMs, capabilities, contactUrl, demoFile };
  const app = await buildApi({ ...parts, queue: producer });
  opened.defer(() => drain(app, config.DRAIN_MS).then(() => app.close()));
  if (metrics) {
    metrics.pools(pools, connectionsOf);
    reportQueue(metrics, producer);
    opened.use(await serveHealth({ host: config.HOST, port: config.METRICS_PORT, metrics }));
  }
  const baseUrl = await app.listen({ host: config.HOST, port: config.PORT, backlog: BACKLOG });
  log.info(`listening at ${baseUrl}`);
  return Object.assign(opened.move(), { baseUrl });
}
