import { assertReady, connectionsOf, openServicePool, ping, type Database } from '@floodgate/database';
import { readLags, type Lag, type Lags } from '@floodgate/journal';
import { Metrics, type Figure } from '@floodgate/metrics';
import { reportProcess } from '@floodgate/operators';
import { isHanging, serveHealth, startPeriodicTasks, type Health, type Logger } from '@floodgate/service';
import manifest from '../package.json' with { type: 'json' };
import { CAPABILITIES } from './capabilities.ts';
import type { DeliveryConfig } from './config.ts';

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

const ofKinds = (help: string, value: (lag: Lag) => number): Figure<Lags> => ({
  help,
  labels: ['kind'],
  samples: ({ shardsAway: _away, ...lags }) =>
    Object.entries(lags).map(([kind, lag]) => [{ kind }, value(lag)]),
});

/** Returns the metrics of a delivery process. Each scrape reads the lags of the consumers. Without Postgres they are missing. */
export function createMetrics(db: Database): Metrics {
  const metrics = new Metrics('delivery');
  metrics.figures(() => readLags(db), {
    oldest_undelivered_seconds: ofKinds(
      'Age of the oldest undelivered journal entry, including throttled and waiting ones; 0: none',
      ({ oldestMs }) => (oldestMs ?? 0) / 1_000,
    ),
    oldest_retry_seconds: ofKinds(
      'Age of the oldest e-mail that was refused temporarily and will be retried; 0: none',
      ({ oldestRetryMs }) => (oldestRetryMs ?? 0) / 1_000,
    ),
    consumers: ofKinds('Consumers of the journal', ({ consumers }) => consumers),
    consumers_behind: ofKinds('Consumers with undelivered entries', ({ behind }) => behind),
    consumers_failing: ofKinds('Consumers whose last attempt failed', ({ failing }) => failing),
    consumers_disabled: ofKinds('Consumers that were disabled', ({ disabled }) => disabled),
  });
  metrics.pools([['main', db]], connectionsOf);
  return metrics;
}
