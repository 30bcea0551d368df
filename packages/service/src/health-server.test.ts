import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import { serveHealth, type Health } from './health-server.ts';

async function listen(
  options: Pick<Parameters<typeof serveHealth>[0], 'readHealth' | 'readMetrics' | 'pages'>,
) {
  const server = await serveHealth({ ...options, host: '127.0.0.1', port: 0 });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { baseUrl: `http://127.0.0.1:${server.port}` };
}

const well: Health = { status: 'ok', progress: {} };

test('callers that ask while health is read share one reading; a later caller gets a new one', async () => {
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

test('a process is restarted only where it is stalled', async () => {
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

test('a judgement that cannot be read is not ready, no reason to restart, and does not end the process', async () => {
  const { baseUrl } = await listen({ readHealth: () => Promise.reject(new Error('no luck')) });
  const statusOf = async (path: string) => (await fetch(`${baseUrl}${path}`)).status;
  expect([await statusOf('/health/live'), await statusOf('/health/ready')]).toEqual([200, 503]);
});

test('metrics and pages are served where there are some', async () => {
  const readHealth = () => Promise.resolve(well);
  const bare = await listen({ readHealth });
  expect((await fetch(`${bare.baseUrl}/metrics`)).status).toBe(404);
  let isUp = true;
  const full = await listen({
    readHealth,
    readMetrics: () => (isUp ? Promise.resolve('floodgate_up 1\n') : Promise.reject(new Error('away'))),
    pages: [(_request, response, path) => path === '/page' && !!response.end('hello')],
  });
  expect(await (await fetch(`${full.baseUrl}/metrics`)).text()).toBe('floodgate_up 1\n');
  expect(await (await fetch(`${full.baseUrl}/page?x=1`)).text()).toBe('hello');
  expect((await fetch(`${full.baseUrl}/other`)).status).toBe(404);
  isUp = false;
  expect((await fetch(`${full.baseUrl}/metrics`)).status).toBe(503);
});
