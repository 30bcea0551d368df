import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import { serveHealth, type Health } from './health-server.ts';

async function listen(options: Partial<Parameters<typeof serveHealth>[0]>) {
  const readHealth = () => Promise.resolve(well);
  const metrics = { contentType: 'text/plain', text: () => Promise.resolve('floodgate_up 1\n') };
  const server = await serveHealth({ readHealth, metrics, host: '127.0.0.1', port: 0, ...options });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { baseUrl: `http://127.0.0.1:${server.port}` };
}

const well: Health = { status: 'ok', progress: {} };

test('concurrent requests for health share one read, and a later request reads again', async () => {
  const read = Promise.withResolvers<Health>();
  const asked = { requests: 0, reads: 0 };
  const { baseUrl } = await listen({
    readHealth: () => {
      asked.reads += 1;
      return asked.reads === 1 ? read.promise : Promise.resolve(well);
    },
  });
  const count = () => {
    asked.requests += 1;
    if (asked.requests === 20) read.resolve({ ...well, status: 'blocked' });
  };
  subscribe('http.server.request.start', count);
  onTestFinished(() => void unsubscribe('http.server.request.start', count));
  const url = `${baseUrl}/health/ready`;
  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 503));
  expect(asked.reads).toBe(1);
  expect((await fetch(url)).status).toBe(200);
});

test('only a stalled process fails the liveness check', async () => {
  for (const [status, live, ready] of [
    ['ok', 200, 200],
    ['blocked', 200, 503],
    ['stalled', 503, 503],
  ] as const) {
    const { baseUrl } = await listen({ readHealth: () => Promise.resolve({ ...well, status }) });
    expect((await fetch(`${baseUrl}/health/live`)).status).toBe(live);
    expect((await fetch(`${baseUrl}/health/ready?verbose`)).status).toBe(ready);
  }
});

test('if health cannot be read, the process is live but not ready, and keeps running', async () => {
  const { baseUrl } = await listen({ readHealth: () => Promise.reject(new Error('no luck')) });
  const statusOf = async (path: string) => (await fetch(`${baseUrl}${path}`)).status;
  expect([await statusOf('/health/live'), await statusOf('/health/ready')]).toEqual([200, 503]);
});

test('metrics and pages are served', async () => {
  let isUp = true;
  const full = await listen({
    metrics: {
      contentType: 'text/plain; version=9',
      text: () => (isUp ? Promise.resolve('floodgate_up 1\n') : Promise.reject(new Error('away'))),
    },
    pages: [(_request, response, path) => path === '/page' && !!response.end('hello')],
  });
  const told = await fetch(`${full.baseUrl}/metrics`);
  expect([await told.text(), told.headers.get('content-type')]).toEqual([
    'floodgate_up 1\n',
    'text/plain; version=9',
  ]);
  expect(await (await fetch(`${full.baseUrl}/page?x=1`)).text()).toBe('hello');
  expect((await fetch(`${full.baseUrl}/other`)).status).toBe(404);
  isUp = false;
  expect((await fetch(`${full.baseUrl}/metrics`)).status).toBe(503);
});
