import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { closeIdleConnections } from './connections.ts';

const KEEP_ALIVE_MS = 50;
/** What Node adds to it, so that a client that goes by the header is never too late. */
const GRACE_MS = 1_000;

async function serve() {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (_request, response) =>
    response.end('done'),
  );
  closeIdleConnections(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const ask = async () => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['cut'])]);
    return String(answer).split('\r\n')[0];
  };
  const stop = () => {
    socket.destroy();
    server.close();
  };
  return { socket, ask, [Symbol.dispose]: stop };
}

test('a request that came while the process was held up is answered, however long its connection was idle', async () => {
  using served = await serve();
  expect(await served.ask()).toBe('HTTP/1.1 200 OK');
  const answer = served.ask();
  // From here on the request lies in the kernel, and the connection's time runs out.
  for (const until = performance.now() + KEEP_ALIVE_MS + GRACE_MS + 100; performance.now() < until;);
  expect(await answer).toBe('HTTP/1.1 200 OK');
});

test('an idle connection is closed when its time is over', async () => {
  using served = await serve();
  expect(await served.ask()).toBe('HTTP/1.1 200 OK');
  await once(served.socket, 'close');
});
