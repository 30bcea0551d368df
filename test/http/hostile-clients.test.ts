import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { residentMiB } from '../harness/process-usage.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { attendee } from '../harness/partner-client.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { startApiProcess, type ServiceProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ sharesEvent: true });

const REGISTER = '/api/v1/events/register';
const HEALTH = requestText('GET /health/live', { host: 'api' });
const CONNECT = requestText('CONNECT a:1', { host: 'a' });

test.override('ticket', {});

/** Undefined: the last test has stopped it. The next one starts another. */
let running: (ServiceProcess & { baseUrl: string }) | undefined;
let api: ServiceProcess & { baseUrl: string };
let connections: RawConnection[];

beforeEach(async () => {
  connections = [];
  // A client is given a quarter of the time that a stop may take.
  running ??= await startApiProcess({
    DATABASE_URL: given.database.url,
    QUEUE_URL: given.database.url,
    SHUTDOWN_TIMEOUT_MS: '6000',
  });
  api = running;
});

afterEach(() => {
  for (const connection of connections) connection.close();
  if (api.child.exitCode === null) return;
  expect(api.output()).not.toMatch(/"level":[56]0/);
  running = undefined;
});

// Whatever the tests have left open at the other side: the API ends in good order.
afterAll(async () => {
  if (!running) return;
  expect(await running.end(), running.output()).toBe(0);
  expect(running.output()).not.toMatch(/"level":[56]0/);
});

async function open(options?: { allowHalfOpen: boolean }): Promise<RawConnection> {
  const connection = await RawConnection.open(api.baseUrl, options);
  connections.push(connection);
  return connection;
}

function registration(): string {
  const body = JSON.stringify(attendee(given.ticketId));
  const headers = { host: 'api', 'x-secret-key': given.gala.secretKey, 'x-event-ref': given.gala.eventRef };
  const content = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return requestText(`POST ${REGISTER}`, { ...headers, ...content }, body);
}

async function expectServed(): Promise<void> {
  const connection = await open();
  connection.send(registration());
  expect((await connection.answer()).body.responseCode).toBe('00');
}

const RESETS = 100;
const MOMENTS: [string, () => unknown][] = [
  ['at once', () => {}],
  ['a turn later', () => new Promise(setImmediate)],
];

describe.each([
  ['CONNECT', CONNECT],
  ['CONNECT with a body', requestText('CONNECT a:1', { host: 'a', 'content-length': '5' })],
  ['CONNECT and what is meant for the other side', CONNECT + 'x'.repeat(100_000)],
  ['an Upgrade', requestText('GET /', { host: 'a', connection: 'upgrade', upgrade: 'websocket' })],
  ['garbage', '\x16\x03\x01\r\n\r\n'],
])('%s', (_what, text) => {
  test.each(MOMENTS)('and a reset %s harm nobody', async (_moment, wait) => {
    for (let count = 0; count < RESETS; count++) {
      const connection = await RawConnection.open(api.baseUrl);
      connection.send(text);
      await wait();
      connection.reset();
    }
    await expectServed();
  });
});

test('CONNECT behind a registration that waits, and a reset, harm nobody', async () => {
  const held = await holdTicket(given.database.db, given.ticketId);
  for (let count = 0; count < 20; count++) {
    const connection = await open();
    connection.send(registration() + CONNECT);
    await held.waiters(1);
    connection.reset();
  }
  await held.release();
  await expectServed();
});

test('a connection without a request is closed without an answer: browsers open some in advance', async () => {
  const unused = await RawConnection.open(api.baseUrl);
  const received = await waitUntil('it is closed', () => unused.closed().catch(() => null));
  expect(received).toBe('');
});

test('who asks for CONNECT and keeps the connection open is cut', async () => {
  const held = await Promise.all(Array.from({ length: 50 }, () => open({ allowHalfOpen: true })));
  for (const connection of held) connection.send(CONNECT);
  for (const connection of held) {
    expectFailure(await connection.answer(), '60', 405);
    await waitUntil('the connection is gone', () => {
      // Where there is none, what is sent is answered with a reset.
      connection.send('x');
      return connection.isClosed;
    });
  }
});

describe('a stop does not wait for', () => {
  test.each([
    ['a client that has sent nothing', () => ''],
    ['half a head', () => registration().slice(0, 60)],
    ['half a body', () => registration().slice(0, -5)],
    ['CONNECT', () => CONNECT],
    ['garbage', () => '\x16\x03\x01\r\n\r\n'],
    ['a body that nobody reads', () => requestText('POST /', { host: 'api', 'content-length': '100000' })],
  ])('%s', async (_what, text) => {
    const connection = await open({ allowHalfOpen: true });
    connection.send(text());
    // What was sent earlier has arrived.
    await expectServed();
    expect(await api.end()).toBe(0);
  });

  const DOCUMENT = requestText('GET /api/v1/openapi.json', { host: 'api' });
  /** Of the documents; the requests are still shorter than the 64 KiB that the API reads at once. */
  const MORE_THAN_IS_BUFFERED = 1_200;

  test('a client that does not take its answers', async () => {
    const socket = await openUnread();
    // With half a request at the end of what is read.
    socket.write(DOCUMENT.repeat(10 * MORE_THAN_IS_BUFFERED));
    await untilStuck(socket);
    expect(await api.end()).toBe(0);
    socket.destroy();
  });

  test('a client that does not take its answers and asks for CONNECT', async () => {
    const socket = await openUnread();
    // All of it is read at once, or CONNECT would not be.
    socket.write(DOCUMENT.repeat(MORE_THAN_IS_BUFFERED) + CONNECT);
    await untilStuck(socket);
    expect(await api.end()).toBe(0);
    socket.destroy();
  });

  async function openUnread(): Promise<Socket> {
    const { hostname, port } = new URL(api.baseUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  /** Waits until nothing more arrives, whatever the API does. */
  async function untilStuck(socket: Socket): Promise<void> {
    const other = await open();
    await waitUntil('the answers are stuck', async () => {
      const bytesRead = socket.bytesRead;
      for (let count = 0; count < 20; count++) {
        other.send(HEALTH);
        await other.answer();
      }
      return bytesRead > 0 && socket.bytesRead === bytesRead;
    });
  }
});

test('a stop that has given up a slow client answers what was read completely', async () => {
  const held = await holdTicket(given.database.db, given.ticketId);
  const [served, slow] = [await open(), await open()];
  served.send(registration());
  slow.send(registration().slice(0, -5));
  await held.waiters(1);
  api.child.kill('SIGTERM');
  expect(await slow.closed()).toBe('');
  await held.release();
  expect((await served.answer()).body.responseCode).toBe('00');
  expect(await api.exited).toBe(0);
});

const UNFINISHED = 800;
const UNFINISHED_GROWTH_MIB = 50;

test('bodies without a key that never end take little memory', async () => {
  const body = 'x'.repeat(4_000);
  const enrol = requestText(
    'POST /door/v1/enrol',
    { host: 'api', 'content-type': 'application/json', 'content-length': '4096' },
    body,
  );
  const before = await residentMiB(api.child.pid!);
  for (let count = 0; count < UNFINISHED; count++) (await open()).send(enrol);
  // What was sent earlier has arrived.
  await expectServed();
  const after = await residentMiB(api.child.pid!);
  if (before !== undefined && after !== undefined) expect(after - before).toBeLessThan(UNFINISHED_GROWTH_MIB);
});

const KEYS = 10_000;
const KEYS_AT_ONCE = 200;
const KEY_BYTES = 15_000;
/** Kept whole, the keys would take 143 MiB. */
const MAX_GROWTH_MIB = 70;

test('text that can be no secret key is not kept, however much of it comes', async () => {
  const connection = await open();
  const send = async (from: number) => {
    for (let number = from; number < from + KEYS_AT_ONCE; number++) {
      const key = String(number).padEnd(KEY_BYTES, 'k');
      connection.send(`GET /api/v1/events/tickets HTTP/1.1\r\nhost: api\r\nx-secret-key: ${key}\r\n\r\n`);
    }
    for (let count = 0; count < KEYS_AT_ONCE; count++) expectFailure(await connection.answer(), '20');
  };
  await send(0);
  const before = await residentMiB(api.child.pid!);
  for (let from = KEYS_AT_ONCE; from < KEYS; from += KEYS_AT_ONCE) await send(from);
  const after = await residentMiB(api.child.pid!);
  if (before !== undefined && after !== undefined) expect(after - before).toBeLessThan(MAX_GROWTH_MIB);
});
