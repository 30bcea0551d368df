import { once } from 'node:events';
import { connectService } from '@floodgate/database';
import { serveHealth, startRounds, type Logger, type Service } from '@floodgate/service';
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
  const db = await connectService(
    { service: 'delivery', connectionString: config.DATABASE_URL, log },
    { maxConnections: MAX_CONNECTIONS, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  );
  const metrics = createMetrics(db);
  const kinds = config.DELIVERIES.split(',');
  const opened = await Promise.all(
    capabilities
      .filter(({ kind }) => kinds.includes(kind))
      .map((capability) => capability.open({ db, log, metrics, config })),
  );
  const rounds = startRounds(
    opened.flatMap((one) => one.rounds),
    log,
  );
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
      await Promise.all([rounds.stop(), ...opened.map((one) => one.close())]);
      server.close();
      server.closeAllConnections();
      await db.destroy();
    },
  };
}
