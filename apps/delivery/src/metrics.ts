import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { Database } from '@floodgate/database';
import { readLags, type Lag, type Lags } from '@floodgate/journal';

const LAGS: Record<string, [help: string, value: (lag: Lag) => number]> = {
  oldest_undelivered_seconds: [
    'Age of the oldest entry of the journal that was not delivered, those that wait or are slowed down included; 0: none',
    ({ oldestMs }) => (oldestMs ?? 0) / 1_000,
  ],
  oldest_retry_seconds: [
    'Age of the oldest e-mail that was refused for now and is tried again; 0: none',
    ({ oldestRetryMs }) => (oldestRetryMs ?? 0) / 1_000,
  ],
  consumers: ['Consumers of the journal', ({ consumers }) => consumers],
  consumers_behind: ['Consumers that have something to deliver', ({ behind }) => behind],
  consumers_failing: ['Consumers whose last attempt failed', ({ failing }) => failing],
  consumers_disabled: ['Consumers that were given up', ({ disabled }) => disabled],
};

/** Returns the registry of a delivery process. The lags of consumers are read at each scrape. */
export function createMetrics(db: Database): Registry {
  const metrics = new Registry();
  // The default is 10 ms. That alone wakes an idle process 100 times a second.
  const eventLoopMonitoringPrecision = 200;
  collectDefaultMetrics({ register: metrics, prefix: 'floodgate_delivery_', eventLoopMonitoringPrecision });
  const gauges = Object.entries(LAGS).map(([lag, [help, value]]) => {
    const name = `floodgate_delivery_${lag}`;
    return { value, gauge: new Gauge({ name, help, labelNames: ['kind'], registers: [metrics] }) };
  });
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
