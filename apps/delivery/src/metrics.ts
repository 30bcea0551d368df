import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { Database } from '@floodgate/database';
import { readLags, type Lag, type Lags } from '@floodgate/journal';

const LAGS: Record<string, [help: string, value: (lag: Lag) => number]> = {
  oldest_undelivered_seconds: [
    'Age of the oldest undelivered journal entry, including throttled and waiting ones; 0: none',
    ({ oldestMs }) => (oldestMs ?? 0) / 1_000,
  ],
  oldest_retry_seconds: [
    'Age of the oldest e-mail that was refused temporarily and will be retried; 0: none',
    ({ oldestRetryMs }) => (oldestRetryMs ?? 0) / 1_000,
  ],
  consumers: ['Consumers of the journal', ({ consumers }) => consumers],
  consumers_behind: ['Consumers with undelivered entries', ({ behind }) => behind],
  consumers_failing: ['Consumers whose last attempt failed', ({ failing }) => failing],
  consumers_disabled: ['Consumers that were disabled', ({ disabled }) => disabled],
};

/** Returns the metrics registry of a delivery process. Each scrape reads the consumers' lags. */
export function createMetrics(db: Database): Registry {
  const metrics = new Registry();
  // The default of 10 ms wakes an idle process 100 times per second.
  const eventLoopMonitoringPrecision = 200;
  collectDefaultMetrics({ register: metrics, prefix: 'floodgate_delivery_', eventLoopMonitoringPrecision });
  const gauges = Object.entries(LAGS).map(([lag, [help, value]]) => {
    const name = `floodgate_delivery_${lag}`;
    return { value, gauge: new Gauge({ name, help, labelNames: ['kind'], registers: [metrics] }) };
  });
  const read = metrics.metrics.bind(metrics);
  metrics.metrics = async () => {
    // Without Postgres the lags are unknown, but the counters are still reported.
    const { shardsAway: _, ...lags } = await readLags(db).catch((): Lags => ({}));
    for (const { gauge, value } of gauges) {
      gauge.reset();
      for (const [kind, lag] of Object.entries(lags)) gauge.set({ kind }, value(lag));
    }
    return read();
  };
  return metrics;
}
