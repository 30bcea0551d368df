import { expect, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { RawConnection } from '../harness/raw-http.ts';
import { startApiProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest();

const REQUEST = 'GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n';

async function startApi(env: Record<string, string>) {
  const api = await startApiProcess({
    DATABASE_URL: given.database.url,
    QUEUE_URL: given.database.url,
    ...env,
  });
  onTestFinished(async () => void (await api.end('SIGKILL')));
  return api;
}

const isRefused = (baseUrl: string) =>
  RawConnection.open(baseUrl).then(
    () => false,
    () => true,
  );

test('an API that drains accepts no connection, and ends each open one with its next answer', async () => {
  const api = await startApi({ DRAIN_MS: '60000', SHUTDOWN_TIMEOUT_MS: '100000' });
  const proxy = await RawConnection.open(api.baseUrl);
  proxy.send(REQUEST);
  expect((await proxy.answer()).headers.get('connection')).toBe('keep-alive');
  api.child.kill('SIGTERM');
  await waitUntil('new connections are refused', () => isRefused(api.baseUrl));
  expect(proxy.isClosed).toBe(false);
  proxy.send(REQUEST);
  const last = await proxy.answer();
  // The proxy closes it.
  expect([last.status, last.headers.get('connection')]).toEqual([200, 'close']);
});

test('afterwards it stops in order', async () => {
  const api = await startApi({ DRAIN_MS: '300' });
  const proxy = await RawConnection.open(api.baseUrl);
  proxy.send(REQUEST);
  await proxy.answer();
  expect(await api.end()).toBe(0);
  await waitUntil('the idle connection is closed', () => proxy.isClosed);
});
