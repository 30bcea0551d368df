import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { findFreePort } from './free-port.ts';

/** The lowest port that systems usually assign to outgoing connections. */
const FIRST_EPHEMERAL_PORT = 32_768;

const servers: Server[] = [];
afterEach(() => void servers.splice(0).map((server) => server.close()));

async function listen(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
}

test('a free port is none that the system gives away by itself, and is not found twice', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, findFreePort));
  expect(new Set(ports).size).toBe(20);
  for (const port of ports) {
    expect(port).toBeLessThan(FIRST_EPHEMERAL_PORT);
    await listen(port);
  }
});

test('a port that is taken is passed over', async () => {
  const taken = (await findFreePort()) + 1;
  await listen(taken);
  expect(await findFreePort()).toBe(taken + 1);
});

test('a port that was found is given to nobody else, also before and after somebody listens', async () => {
  const found = await findFreePort();
  // Simulates another process whose search begins at the same port.
  vi.resetModules();
  const another = await import('./free-port.ts');
  await expect(another.holdPort(found)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  const ports = new Set([await another.findFreePort(), found, await findFreePort()]);
  expect(ports.size).toBe(3);
});
