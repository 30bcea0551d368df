import { connectionsOf, type Database } from '@floodgate/database';
import { readLags, type Lag, type Lags } from '@floodgate/journal';
import { Metrics, type Figure } from '@floodgate/metrics';

const ofKinds = (help: string, value: (lag: Lag) => number): Figure<Lags> => ({
  help,
  labels: ['kind'],
  samples: ({ shardsAway: _away, ...lags }) =>
    Object.entries(lags).map(([kind, lag]) => [{ kind }, value(lag)]),
});

/**
 * Returns the metrics of a delivery process. Each scrape reads the lags of the consumers. Without Postgres
 * they are missing.
 */
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
