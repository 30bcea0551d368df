import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runningTime } from './running-time.ts';

const STOP_MS = 600;
const TIMEOUT_MS = 300;

/** Starts a server that answers each connection, or never. */
async function listen(answers: boolean): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    if (answers) socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function standStill(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('a request without an answer is given up', async () => {
  const request = fetch(await listen(false), { signal: runningTime.timeout(TIMEOUT_MS) });
  await expect(request).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('a request that is answered while the process stands still is not given up', async () => {
  const url = await listen(true);
  runningTime.takeLongestStopMs();
  runningTime.takeStops();
  const request = fetch(url, { signal: runningTime.timeout(TIMEOUT_MS) });
  standStill(STOP_MS);
  expect((await request).status).toBe(204);
  expect(runningTime.takeLongestStopMs()).toBeGreaterThanOrEqual(STOP_MS);
  expect(runningTime.takeLongestStopMs()).toBeLessThan(STOP_MS);
  const stops = runningTime.takeStops();
  expect(Math.max(...stops.map(({ from, to }) => to - from))).toBeGreaterThanOrEqual(STOP_MS);
  expect(runningTime.takeStops()).toEqual([]);
});
