import { expect, test, vi } from 'vitest';
import { Consumer } from './consumer.ts';

test('a clock that is set back does not make a consumer look busy', async () => {
  const consumer = new Consumer({
    target: { kind: 'redis', url: 'redis://127.0.0.1:1' },
    namespace: 'clock',
    concurrency: { clock: 1 },
    jobs: [],
    onJobFailed: () => {},
    onError: () => {},
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  expect(consumer.idleMs('clock')).toBeGreaterThanOrEqual(0);
  vi.useRealTimers();
  await consumer.close(1_000);
});
