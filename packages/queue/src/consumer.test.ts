import { Type } from '@sinclair/typebox';
import { expect, test, vi } from 'vitest';
import { openConsumer } from './consumer.ts';
import { defineJob, handled } from './jobs.ts';

const options = { attempts: 1, backoffMs: 1, timeoutMs: 1_000, concurrency: 1 };
const clockJob = defineJob({ ...options, name: 'tick', queue: 'clock', payload: Type.Object({}) });

test('a clock that is set back does not make the idle time negative', async () => {
  const consumer = openConsumer({
    target: { kind: 'redis', url: 'redis://127.0.0.1:1' },
    namespace: 'clock',
    jobs: [handled(clockJob, () => Promise.resolve('done' as const))],
    onJobFailed: () => {},
    onError: () => {},
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  expect(consumer.idleMs()['clock']).toBeGreaterThanOrEqual(0);
  vi.useRealTimers();
  await consumer.close(1_000);
});
