import { setTimeout as delay } from 'node:timers/promises';
import { readLags } from '@floodgate/journal';
import { expect, inject, onTestFinished, test } from 'vitest';
import { callOf } from '../bench/contenders/bulk.ts';
import { generateLoad } from '../bench/load/generate.ts';
import { answersOf, OK } from '../bench/load/load.ts';
import { startReceiver } from '../bench/webhooks/webhooks.ts';
import { registerRequest } from '../bench/workloads.ts';
import { createTestDatabase } from '../harness/database.ts';
import { createFixture } from '../harness/fixture.ts';
import { journalOf } from '../harness/journal.ts';
import { startApiProcess, startDeliveryProcess, startWorkerProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addWebhook } from '../harness/webhooks.ts';

// From the call to the receiver, while partners register: measured, not judged, where MEASURE_WEBHOOKS says for how many seconds.

const SECONDS = Number(process.env['MEASURE_WEBHOOKS'] ?? 0);
const PER_CALL = 500;
const CALLS_PER_SECOND = Number(process.env['MEASURE_CALLS'] ?? 30);
const SAMPLE_MS = 100;

test.skipIf(SECONDS === 0)('registered and told, a second', { timeout: 180_000 }, async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { db, url } = database;
  const fixture = await createFixture(db);
  const receiver = await startReceiver();
  await addWebhook(db, fixture, { url: `http://127.0.0.1:${receiver.port}/live` });
  const env = { DATABASE_URL: url, LOG_LEVEL: 'warn' };
  const queue = { QUEUE_URL: inject('redisUrl') ?? url, QUEUE_NAMESPACE: `live_${process.pid}` };
  const services = await Promise.all([
    startApiProcess({ ...env, ...queue, LOG_LEVEL: 'info' }),
    startWorkerProcess({ ...env, ...queue, LOG_LEVEL: 'info' }),
    startDeliveryProcess({ ...env, WEBHOOK_ALLOW_PRIVATE: 'true', LOG_LEVEL: 'info' }),
  ]);
  onTestFinished(async () => {
    receiver.end();
    await Promise.all(services.map((service) => service.end()));
  });
  const lags: number[] = [];
  const over = new AbortController();
  const sampling = (async () => {
    while (!over.signal.aborted) {
      lags.push((await readLags(db)).webhook?.oldestMs ?? 0);
      await delay(SAMPLE_MS);
    }
  })();
  const startedAt = performance.now();
  const load = await generateLoad({
    baseUrl: services[0].baseUrl,
    requests: [callOf(await registerRequest(fixture), PER_CALL)],
    connections: 64,
    seconds: SECONDS,
    arrivalsPerSecond: CALLS_PER_SECOND,
  });
  const registered = answersOf(load, OK) * PER_CALL;
  await waitUntil('all is told', () => receiver.received()['/live']?.cursor === registered, 60_000);
  const seconds = (performance.now() - startedAt) / 1_000;
  over.abort();
  await sampling;
  const { breaks, messages } = receiver.received()['/live']!;
  process.stdout.write(
    `${Math.round(registered / seconds)} registrations/s told within ${seconds.toFixed(1)} s of the first call, ${messages} messages; ` +
      `oldest undelivered: ${Math.max(...lags).toFixed(0)} ms at most\n`,
  );
  expect(breaks).toBe(0);
  expect(await journalOf(db, fixture)).toHaveLength(registered);
});
