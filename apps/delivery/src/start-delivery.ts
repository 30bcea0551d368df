import { once } from 'node:events';
import { assertGranted, assertMigrated, connect, explainRefusals, type Database } from '@floodgate/database';
import { repeat, serveHealth, throttledWarn, type Logger, type Service } from '@floodgate/service';
import { CAPABILITIES } from './capabilities.ts';
import type { DeliveryConfig } from './config.ts';
import { judge, readProgress } from './health.ts';
import { createMetrics } from './metrics.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
/** Of everything that is delivered, and health together. They are opened as they are needed. */
const MAX_CONNECTIONS = 10;

/** Wires together what tells others of what became of registrations, and starts it. */
export async function startDelivery(
  config: DeliveryConfig,
  log: Logger,
  capabilities = CAPABILITIES,
): Promise<Service> {
  const db = await openDatabase(config, log);
  const metrics = createMetrics(db);
  const kinds = config.DELIVERIES.split(',');
  const opened = await Promise.all(
    capabilities
      .filter(({ kind }) => kinds.includes(kind))
      .map((capability) => capability.open({ db, log, metrics, config })),
  );
  const rounds = opened
    .flatMap((one) => one.rounds)
    .map((round) => {
      const warn = throttledWarn('a round failed; it is repeated');
      const onError = (err: Error) => warn(log, { err, task: round.name });
      return { ...round, ...repeat(round.run, round.intervalMs, onError) };
    });
  const server = serveHealth({
    readHealth: async () => judge(await readProgress(db, rounds), config.STALLED_AFTER_MS),
    readMetrics: () => metrics.metrics(),
    pages: opened.flatMap(({ pages = [] }) => pages),
  });
  server.listen(config.DELIVERY_PORT, config.DELIVERY_HOST);
  await once(server, 'listening');
  log.info({ deliveries: config.DELIVERIES }, 'delivering');

  return {
    close: async () => {
      await Promise.all([...rounds.map((round) => round.stop()), ...opened.map((one) => one.close())]);
      server.close();
      server.closeAllConnections();
      await db.destroy();
    },
  };
}

async function openDatabase(config: DeliveryConfig, log: Logger): Promise<Database> {
  const db = connect({
    connectionString: config.DATABASE_URL,
    applicationName: 'floodgate-delivery',
    maxConnections: MAX_CONNECTIONS,
    prepareStatements: true,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleError: (err) => log.warn({ err }, 'an idle Postgres connection was lost'),
    onRefusal: explainRefusals('delivery', log),
  });
  await assertGranted(db, 'delivery');
  await assertMigrated(db);
  return db;
}
