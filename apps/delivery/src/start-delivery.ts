import { assertReady, openServicePool, ping } from '@floodgate/database';
import { readLags } from '@floodgate/journal';
import { reportProcess } from '@floodgate/operators';
import { isHanging, serveHealth, startPeriodicTasks, type Health, type Logger } from '@floodgate/service';
import manifest from '../package.json' with { type: 'json' };
import { CAPABILITIES } from './capabilities.ts';
import type { DeliveryConfig } from './config.ts';
import { createMetrics } from './metrics.ts';

/** For all kinds of deliveries and health checks. The pool opens connections on demand. */
const POOL = { maxConnections: 10, statementTimeoutMs: 10_000 };

/** Opens the capabilities and starts to deliver. */
export async function startDelivery(config: DeliveryConfig, log: Logger): Promise<AsyncDisposable> {
  // Closed in reverse order: here if the start fails, otherwise by the caller.
  await using opened = new AsyncDisposableStack();
  const server = { service: 'delivery', connectionString: config.DATABASE_URL, log } as const;
  const db = opened.use(openServicePool(server, POOL));
  await assertReady(db, 'delivery');
  const metrics = createMetrics(db);
  const kinds = config.DELIVERIES.split(',');
  const capabilities = CAPABILITIES.filter(({ kind }) => kinds.includes(kind));
  const deliveries = await Promise.all(capabilities.map((one) => one.open({ db, log, metrics, config })));
  const self = { service: 'delivery', version: manifest.version } as const;
  const report = reportProcess(db, self, () => ({ deliveries: kinds }));
  opened.defer(report.end);
  const tasks = startPeriodicTasks([...deliveries.flatMap((one) => one.tasks), report], log);
  opened.defer(async () => void (await Promise.all([tasks.stop(), ...deliveries.map((one) => one.close())])));

  /** Slow or unreachable receivers do not make the process unhealthy: a restart would not help. */
  async function readHealth(): Promise<Health> {
    // Lags of all consumers, including those of other delivery processes.
    const [isUp, lags] = await Promise.all([ping(db), readLags(db).catch(() => null)]);
    const progress = { postgres: isUp ? 'up' : 'down', tasks: tasks.progress(), lags };
    if (!isUp) return { status: 'blocked', progress };
    return { status: isHanging(progress.tasks, config.STALLED_AFTER_MS) ? 'stalled' : 'ok', progress };
  }

  const pages = deliveries.flatMap((one) => one.pages ?? []);
  const { DELIVERY_HOST: host, DELIVERY_PORT: port } = config;
  opened.use(await serveHealth({ host, port, readHealth, metrics, pages }));
  log.info({ deliveries: config.DELIVERIES }, 'delivering');
  return opened.move();
}
