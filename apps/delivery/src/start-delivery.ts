import { assertReady, openServicePool } from '@floodgate/database';
import { serveHealth, started, startPeriodicTasks, type Logger, type Service } from '@floodgate/service';
import { CAPABILITIES } from './capabilities.ts';
import type { DeliveryConfig } from './config.ts';
import { judge, readProgress } from './health.ts';
import { createMetrics } from './metrics.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
/** Of everything that is delivered, and health together. They are opened as they are needed. */
const MAX_CONNECTIONS = 10;

/** Opens the capabilities and starts to deliver. */
export async function startDelivery(
  config: DeliveryConfig,
  log: Logger,
  capabilities = CAPABILITIES,
): Promise<Service> {
  // Closed in reverse: here if the start fails, otherwise by close().
  await using opened = new AsyncDisposableStack();
  const db = openServicePool(
    { service: 'delivery', connectionString: config.DATABASE_URL, log },
    { maxConnections: MAX_CONNECTIONS, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );
  opened.defer(() => db.destroy());
  await assertReady(db, 'delivery');
  const metrics = createMetrics(db);
  const kinds = config.DELIVERIES.split(',');
  const deliveries = await Promise.all(
    capabilities
      .filter(({ kind }) => kinds.includes(kind))
      .map((capability) => capability.open({ db, log, metrics, config })),
  );
  const tasks = startPeriodicTasks(
    deliveries.flatMap((one) => one.tasks),
    log,
  );
  opened.defer(async () => void (await Promise.all([tasks.stop(), ...deliveries.map((one) => one.close())])));
  const health = await serveHealth({
    host: config.DELIVERY_HOST,
    port: config.DELIVERY_PORT,
    readHealth: async () => judge(await readProgress(db, tasks), config.STALLED_AFTER_MS),
    readMetrics: () => metrics.metrics(),
    pages: deliveries.flatMap(({ pages = [] }) => pages),
  });
  opened.use(health);
  log.info({ deliveries: config.DELIVERIES }, 'delivering');
  return started(opened);
}
