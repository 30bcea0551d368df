import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { NUMBER, type Load, type LoadProgress } from './load.ts';
import { runLoad } from './run-load.ts';

let closeServer = () => {};
afterEach(() => closeServer());

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeServer = () => {
    server.close();
    server.closeAllConnections();
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const load = (baseUrl: string, differing: Partial<Load> = {}): Load => ({
  baseUrl,
  requests: [{ method: 'POST', path: '/', headers: { 'x-one': '1' }, body: '{"a":1}' }],
  connections: 4,
  seconds: 0.3,
  ...differing,
});

test('every answer is counted by its status, and the requests are sent in turn', async () => {
  const seen = { GET: 0, POST: 0 };
  const baseUrl = await serve((request, response) => {
    seen[request.method as 'GET'] += 1;
    request.resume().on('end', () => {
      response.statusCode = request.method === 'GET' ? 409 : 200;
      response.end('{}');
    });
  });
  const requests: Load['requests'] = [
    { method: 'POST', path: '/', headers: {}, body: '{}' },
    { method: 'GET', path: '/', headers: {} },
  ];
  const result = await runLoad(load(baseUrl, { requests }));
  expect(result.answers).toEqual({ '200': seen.POST, '409': seen.GET });
  expect(Math.abs(seen.POST - seen.GET)).toBeLessThanOrEqual(1);
  expect(result.seconds).toBeGreaterThanOrEqual(0.3);
});

test('an answer in pieces is one answer', async () => {
  const baseUrl = await serve((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-length', 10);
      response.write('01234');
      setImmediate(() => response.end('56789'));
    });
  });
  const { answers } = await runLoad(load(baseUrl));
  expect(Object.keys(answers)).toEqual(['200']);
});

test('a connection that ends without an answer is counted as cut', async () => {
  const baseUrl = await serve((request) => request.socket.destroy());
  expect((await runLoad(load(baseUrl))).answers).toEqual({ cut: 4 });
});

test('an open loop sends what arrives, and counts a stall for everybody who waited', async () => {
  let stalled: (() => void)[] | null = [];
  const baseUrl = await serve((request, response) => {
    request.resume().on('end', () => {
      const answer = () => response.end('{}');
      if (!stalled) return answer();
      stalled.push(answer);
      if (stalled.length < 50) return undefined;
      for (const give of stalled) give();
      stalled = null;
      return undefined;
    });
  });
  const arrivalsPerSecond = 1_000;
  const result = await runLoad(load(baseUrl, { arrivalsPerSecond, connections: 64, seconds: 1 }));
  // A Poisson process: within five standard deviations of its mean.
  expect(result.answers['200']).toBeGreaterThan(1_000 - 160);
  expect(result.answers['200']).toBeLessThan(1_000 + 160);
  // Fifty arrivals take about 50 ms, and the first of them waits that long.
  expect(result.latencyMs.max).toBeGreaterThan(20);
});

test('a logged load tells of every request, by its number, what became of it and when', async () => {
  const bodies: string[] = [];
  let greetings = 0;
  const baseUrl = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      if (request.method === 'GET') greetings += 1;
      else bodies.push(body);
      const number = Number(body.slice(2, -2));
      if (number % 2) response.setHeader('retry-after', '7');
      response.end(
        number % 2
          ? '{"responseCode":"90","responseData":null}'
          : `{"responseCode":"00","responseData":"R-${number}"}`,
      );
    });
  });
  const { log, answers } = await runLoad(
    load(baseUrl, {
      requests: [{ method: 'POST', path: '/', headers: {}, body: `["${NUMBER}"]` }],
      greeting: { method: 'GET', path: '/', headers: {} },
      phases: [
        { seconds: 0.2, perSecond: 100 },
        { seconds: 0.2, perSecond: 500 },
      ],
      logged: true,
    }),
  );
  const count = answers['200']!;
  expect(greetings).toBe(4);
  expect(bodies.toSorted()).toEqual(
    Array.from({ length: count }, (_, number) => `["${String(number).padStart(NUMBER.length, '0')}"]`),
  );
  expect(log!.code).toEqual(Array.from({ length: count }, (_, number) => (number % 2 ? '90' : '00')));
  expect(log!.detail).toEqual(
    Array.from({ length: count }, (_, number) => (number % 2 ? '7' : `R-${number}`)),
  );
  log!.dueAt.forEach((dueAt, number) => {
    expect(log!.sentAt[number]).toBeGreaterThanOrEqual(dueAt);
    expect(log!.answeredAt[number]).toBeGreaterThanOrEqual(log!.sentAt[number]!);
  });
});

test('who has waited too long for a connection is gone, and nothing is sent for them', async () => {
  let requests = 0;
  let answerFirst = () => {};
  const reports: LoadProgress[] = [];
  const baseUrl = await serve((request, response) => {
    requests += 1;
    const answer = () => response.end('{}');
    request.resume().on('end', () => (requests === 1 ? (answerFirst = answer) : answer()));
  });
  const phases = [{ seconds: 1.1, perSecond: 500 }];
  const { log, answers } = await runLoad(
    load(baseUrl, { phases, connections: 1, patienceMs: 20, logged: true }),
    (progress) => {
      reports.push(progress);
      answerFirst();
    },
  );
  const numbersOf = (wanted: boolean) =>
    [...log!.code.keys()].filter((n) => (log!.code[n] === 'gone') === wanted);
  expect(reports[0]).toEqual({ sent: 1, answered: 0 });
  expect(answers).toEqual({ '200': requests });
  expect(numbersOf(false)).toHaveLength(requests);
  expect(numbersOf(true).length).toBeGreaterThan(requests);
  for (const number of numbersOf(true)) expect(log!.sentAt[number]).toBeNaN();
  for (const number of numbersOf(false)) {
    expect(log!.sentAt[number]! - log!.dueAt[number]!).toBeLessThanOrEqual(20);
  }
});
