import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { Database } from '@floodgate/database';
import { readLags, type Lag, type Lags } from '@floodgate/journal';

const LAGS: readonly { name: string; help: string; value: (lag: Lag) => number }[] = [
  {
    name: 'oldest_undelivered_seconds',
    help: 'Age of the oldest entry of the journal that was not delivered, those that wait or are slowed down included; 0: none',
    value: ({ oldestMs }) => (oldestMs ?? 0) / 1_000,
  },
  {
    name: 'oldest_retry_seconds',
    help: 'Age of the oldest e-mail that was refused for now and is tried again; 0: none',
    value: ({ oldestRetryMs }) => (oldestRetryMs ?? 0) / 1_000,
  },
  { name: 'consumers', help: 'Consumers of the journal', value: ({ consumers }) => consumers },
  {
    name: 'consumers_behind',
    help: 'Consumers that have something to deliver',
    value: ({ behind }) => behind,
  },
  {
    name: 'consumers_failing',
    help: 'Consumers whose last attempt failed',
    value: ({ failing }) => failing,
  },
  { name: 'consumers_disabled', help: 'Consumers that were given up', value: ({ disabled }) => disabled },
];

/** Returns the registry of a delivery process. The lags of consumers are read at each scrape. */
export function createMetrics(db: Database): Registry {
  const metrics = new Registry();
  // The default is 10 ms. That alone wakes an idle process 100 times a second.
  const eventLoopMonitoringPrecision = 200;
  collectDefaultMetrics({ register: metrics, prefix: 'floodgate_delivery_', eventLoopMonitoringPrecision });
  const gauges = LAGS.map(({ name, help, value }) => ({
    value,
    gauge: new Gauge({
      name: `floodgate_delivery_${name}`,
      help,
      labelNames: ['kind'],
      registers: [metrics],
    }),
  }));
  const read = metrics.metrics.bind(metrics);
  metrics.metrics = async () => {
    // While Postgres is away the lags are unknown. The counters are still reported.
    const { shardsAway: _, ...lags } = await readLags(db).catch((): Lags => ({}));
    for (const { gauge, value } of gauges) {
      gauge.reset();
      for (const [kind, lag] of Object.entries(lags)) gauge.set({ kind }, value(lag));
    }
    return read();
  };
  return metrics;
}
