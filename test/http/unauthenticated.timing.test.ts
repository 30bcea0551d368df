import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { startApiProcess } from '../harness/service-process.ts';

const { test, given } = eventTest({ sharesEvent: true });

// What a request of a stranger costs the API, whatever its shape. The reference is a request with a wrong key.

const SHAPES = 200;
/** Requests of each shape, in pipelined groups. The groups of a shape and of the reference alternate. */
const [GROUPS, GROUP] = [4, 50];
const MOST_TIMES_A_WRONG_KEY = 2;

/** Returns the CPU time of all threads of a process, in nanoseconds. */
async function cpuNanos(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map((id) => readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8').catch(() => '0')),
  );
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0);
}

const wrongKey = () =>
  'GET /api/v1/events/tickets HTTP/1.1\r\nhost: api\r\n' +
  `x-secret-key: fg_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('base64url')}\r\n\r\n`;

const KNOWN = [
  '/api/v1/events/register',
  '/api/v1/events/registrations/GALA-1-1-1000000000/cancel',
  '/door/v1/scans',
];
const PATHS: ((size: number) => string)[] = [
  (size) => `/${'a'.repeat(size)}`,
  (size) => '/a'.repeat(size / 2),
  (size) => '/%41'.repeat(size / 4),
  (size) => '/%E2%82%AC'.repeat(size / 10),
  (size) => `/api/v1/events/registrations/${'1'.repeat(size)}/cancel`,
  (size) => `/api/v1/events/registrations${'/x'.repeat(size / 2)}`,
  (size) => `/api/v1/events/holds/${'%2F'.repeat(size / 3)}/confirm/`,
  (size) => '/'.repeat(size),
  (size) => `/${'../'.repeat(size / 3)}`,
  (size) => `/docs/${'x/'.repeat(size / 2)}`,
  (size) => `/door/${';,'.repeat(size / 2)}`,
  ...KNOWN.map((path) => () => path),
];
const QUERIES: ((size: number) => string)[] = [
  () => '',
  (size) => `?${'a'.repeat(size)}`,
  (size) => `?${'a[]&'.repeat(size / 4)}`,
  (size) => `?${Array.from({ length: size / 8 }, (_, index) => `a[${index}]`).join('&')}`,
  (size) => `?${Array.from({ length: size / 8 }, (_, index) => `b${index}=1`).join('&')}`,
  (size) => `?after=${'%41'.repeat(size / 3)}`,
  (size) => `?${'&'.repeat(size)}`,
];
const HEADERS: ((size: number) => string)[] = [
  () => '',
  (size) => `x-more: ${'v'.repeat(size)}\r\n`,
  (size) => 'x-a: 1\r\n'.repeat(size / 8),
  (size) => Array.from({ length: size / 12 }, (_, index) => `x-${index}: 1\r\n`).join(''),
  (size) => `cookie: ${'a=b; '.repeat(size / 5)}\r\n`,
  (size) => `authorization: Door fgd_${'1'.repeat(size)}\r\n`,
  (size) => `authorization: ${'Bearer '.repeat(size / 7)}\r\n`,
  (size) => `x-secret-key: ${'k'.repeat(size)}\r\n`,
  (size) => `accept: ${'image/png;q=0.1,'.repeat(size / 16)}\r\n`,
  () => 'content-type: application/json\r\ncontent-length: 2\r\n',
];
const SIZES = [40, 900, 2_000, 12_000];
// A connection ends after CONNECT, and HEAD has no body.
const SENT = METHODS.filter((method) => !['CONNECT', 'HEAD', 'QUERY'].includes(method));

/** Returns a shape, the same for the same number. Each part is long in some shapes. */
function shapeOf(number: number): string {
  const pick = <Value>(values: readonly Value[], step: number) =>
    values[(number * step + (number >> 3)) % values.length]!;
  const longPart = number % 4;
  const sizeOf = (part: number) => (longPart === part ? pick(SIZES, 7) : 40);
  const target = pick(PATHS, 1)(sizeOf(0)) + pick(QUERIES, 5)(sizeOf(1));
  const headers = pick(HEADERS, 3)(sizeOf(2));
  const body = headers.includes('content-length') ? '{}' : '';
  const method = number % 3 === 0 ? pick(SENT, 11) : pick(['GET', 'POST'], 1);
  return `${method} ${target} HTTP/1.1\r\nhost: api\r\n${headers}\r\n${body}`;
}

/** Sends requests on one connection, and waits for their answers. Returns whether the last answer ends the connection. */
async function sendOn(baseUrl: string, requests: readonly string[]): Promise<boolean> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(requests.join(''));
  let received = '';
  for await (const data of socket) {
    received += String(data);
    if (received.split('"responseCode"').length > requests.length) break;
  }
  return /^connection: close\r$/im.test(received);
}

test(`a request without a key costs at most ${MOST_TIMES_A_WRONG_KEY} times as much as one with a wrong key, in ${SHAPES} shapes`, async () => {
  const api = await startApiProcess({ DATABASE_URL: given.database.url, QUEUE_URL: given.database.url });
  const measure = async (requests: readonly string[], perConnection: number) => {
    const before = await cpuNanos(api.child.pid!);
    for (let sent = 0; sent < requests.length; sent += perConnection)
      await sendOn(api.baseUrl, requests.slice(sent, sent + perConnection));
    return ((await cpuNanos(api.child.pid!)) - before) / requests.length / 1_000;
  };
  const reference = (perConnection = GROUP) =>
    measure(Array.from({ length: GROUP }, wrongKey), perConnection);
  for (let warm = 0; warm < 100; warm += 1) await reference();
  const results: { times: number; micros: number; shape: string }[] = [];
  for (let number = 0; number < SHAPES; number += 1) {
    const requests = Array<string>(GROUP).fill(shapeOf(number));
    // After a refused head the connection ends. The caller has to open another one for each request.
    const perConnection = (await sendOn(api.baseUrl, requests.slice(0, 1))) ? 1 : GROUP;
    const [own, wrong]: [number[], number[]] = [[], []];
    for (let group = 0; group < GROUPS; group += 1) {
      own.push(await measure(requests, perConnection));
      wrong.push(await reference(perConnection));
    }
    // The cheapest group: the others had garbage collections or background work of their own.
    const micros = Math.min(...own);
    results.push({ times: micros / Math.min(...wrong), micros, shape: shapeOf(number).slice(0, 120) });
  }
  expect(await api.end(), api.output()).toBe(0);
  expect(results.filter(({ times }) => times > MOST_TIMES_A_WRONG_KEY)).toEqual([]);
});
