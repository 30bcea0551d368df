import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { gatherPipelinedAnswers } from './pipelining.ts';

const DEPTH = 16;

/** A server and a client of it that sends many requests at once; `writes` counts what the server's socket was given to send. */
async function serve(listener: RequestListener) {
  const server = createServer(listener);
  let writes = 0;
  server.on('connection', (socket: Socket) => {
    for (const name of ['_write', '_writev'] as const) {
      const own = socket[name] as (...args: unknown[]) => void;
      socket[name] = (...args: unknown[]) => {
        writes += 1;
        own.apply(socket, args);
      };
    }
  });
  gatherPipelinedAnswers(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const ask = (count = DEPTH, headers = '') =>
    client.write(
      Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`).join(
        '',
      ),
    );
  let text = '';
  client.on('data', (data: Buffer) => (text += data.toString()));
  return {
    server,
    client,
    ask,
    text: () => text,
    /** The paths of the requests that were answered, in order. */
    answered: () => Array.from(text.matchAll(/<(\/\d+)>/g), ([, path]) => path),
    writes: () => writes,
    [Symbol.dispose]: () => {
      client.destroy();
      server.close();
    },
  };
}

const paths = (count = DEPTH) => Array.from({ length: count }, (_, index) => `/${index}`);

/** Answers them all in one turn, the last first. */
function inOneTurn(body = ''): RequestListener {
  const waiting: (() => void)[] = [];
  return (request, response) => {
    waiting.push(() => response.end(`<${request.url}>${body}`));
    if (waiting.length === DEPTH)
      setImmediate(() =>
        waiting
          .splice(0)
          .toReversed()
          .forEach((answer) => answer()),
      );
  };
}

test('what is answered in one turn is sent together, in the order of the requests', async () => {
  using served = await serve(inOneTurn());
  for (let round = 1; round <= 3; round++) {
    served.ask();
    await expect.poll(() => served.answered().length).toBe(round * DEPTH);
  }
  expect(served.answered()).toEqual([...paths(), ...paths(), ...paths()]);
  expect(served.writes()).toBeLessThanOrEqual(6);
});

test('one at a time is answered as ever', async () => {
  using served = await serve((request, response) => response.end(`<${request.url}>`));
  for (let count = 1; count <= 3; count++) {
    served.ask(1);
    await expect.poll(() => served.answered().length).toBe(count);
  }
  expect(served.writes()).toBe(3);
});

test('answers that come one after the other, in texts and bytes, are all sent', async () => {
  using served = await serve((request, response) => {
    const number = Number(request.url!.slice(1));
    void (async () => {
      for (let turns = 0; turns < (number * 7) % 5; turns++) await nextTurn();
      response.write(number % 2 === 0 ? 'é' : Buffer.from('é'));
      if (number % 3 === 0) await nextTurn();
      response.end(`<${request.url}>`);
    })();
  });
  served.ask();
  await expect.poll(() => served.answered()).toEqual(paths());
  expect(served.text().split('é')).toHaveLength(DEPTH + 1);
});

test('a client that reads late gets large answers whole', async () => {
  const body = 'x'.repeat(1_000_000);
  let finished = 0;
  const listener = inOneTurn(body);
  using served = await serve((request, response) => {
    response.on('finish', () => (finished += 1));
    listener(request, response);
  });
  served.client.pause();
  served.ask();
  await expect.poll(() => finished).toBeGreaterThan(0);
  for (let turns = 0; turns < 100; turns++) await nextTurn();
  // The others are not given yet.
  expect(finished).toBeLessThan(DEPTH);
  served.client.resume();
  await expect.poll(() => served.text().split(body).length, { timeout: 10_000 }).toBe(DEPTH + 1);
  expect(served.answered()).toEqual(paths());
});

test('answers that are given are sent before the connection is closed: by the server, and by who asks for it', async () => {
  const listener = inOneTurn();
  using stopped = await serve((request, response) => {
    // From now on Node takes the connection for idle.
    if (request.url === paths().at(-1))
      response.on('finish', () => process.nextTick(() => stopped.server.closeIdleConnections()));
    listener(request, response);
  });
  stopped.ask();
  await once(stopped.client, 'close');
  expect(stopped.answered()).toEqual(paths());

  using asked = await serve((request, response) => response.end(`<${request.url}>`));
  const over = once(asked.client, 'close');
  asked.ask(DEPTH - 1);
  asked.client.write(`GET /${DEPTH - 1} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await over;
  expect(asked.answered()).toEqual(paths());
});

test('a client that leaves in the middle harms nobody', async () => {
  let begun = 0;
  using served = await serve((request, response) => {
    begun += 1;
    setImmediate(() => response.end(`<${request.url}>`));
  });
  const connected = once(served.server, 'connection');
  served.ask();
  const [connection] = (await connected) as [Socket];
  await expect.poll(() => begun).toBe(DEPTH);
  served.client.resetAndDestroy();
  await expect.poll(() => connection.closed).toBe(true);
});
