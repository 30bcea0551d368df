import { expect, onTestFinished, test } from 'vitest';
import { connectInTest } from '../../../test/harness/connect-in-test.ts';
import { createMetrics } from './metrics.ts';

test('without Postgres, the lags are missing and the other metrics are served', async () => {
  // No server listens on this port.
  const db = connectInTest('postgres://nobody@127.0.0.1:1/nothing');
  onTestFinished(() => db.destroy());
  const told = await createMetrics(db).text();
  expect(told).toMatch(/^floodgate_delivery_process_cpu_seconds_total \d/m);
  expect(told).not.toMatch(/^floodgate_delivery_consumers\{/m);
});
