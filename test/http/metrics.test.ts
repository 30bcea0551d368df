import { expect } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { apiTest } from '../harness/api-test.ts';
import { findFreePort } from '../harness/free-port.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';

const { test, given } = apiTest({
  sharesEvent: true,
  own: 'the metrics have the tickets of all events, and not more than 50',
});

test.override('ticket', { capacity: 2 });

const port = await findFreePort();
test.override('apiSettings', { METRICS_PORT: String(port) });

const read = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

/** Returns the value of a sample; undefined: there is none. */
function valueOf(text: string, sample: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length));
}

const ROUTE = '/api/v1/events/register';

test('requests are counted by route and code, and groups by size and time', async () => {
  const codes = [];
  for (let count = 0; count < 3; count++)
    codes.push((await given.partner.register(attendee(given.ticketId))).body.responseCode);
  expect(codes).toEqual(['00', '00', '32']);
  await fetch(`${given.api.baseUrl}/nowhere/${given.gala.eventRef}`);
  await fetch(`${given.api.baseUrl}${ROUTE}`, { method: 'POST' });
  const text = await read();
  const requests = (route: string, code: string) =>
    valueOf(text, `floodgate_api_requests_total{route="${route}",code="${code}"}`);
  expect(requests(ROUTE, '00')).toBe(2);
  expect(requests(ROUTE, '32')).toBe(1);
  expect(requests(ROUTE, '20')).toBe(1);
  expect(requests('none', '60')).toBe(1);
  expect(valueOf(text, `floodgate_api_request_seconds_count{route="${ROUTE}"}`)).toBe(4);
  expect(valueOf(text, `floodgate_api_request_seconds_sum{route="${ROUTE}"}`)).toBeGreaterThan(0);
  // A sold-out registration is a group without a committed seat.
  expect(valueOf(text, 'floodgate_api_group_seconds_count{kind="register"}')).toBe(3);
  expect(valueOf(text, 'floodgate_api_group_registrations_sum{kind="register"}')).toBe(3);
  expect(valueOf(text, 'floodgate_api_waiting{kind="register"}')).toBe(0);
  for (const secret of [given.gala.secretKey, given.gala.eventRef]) expect(text).not.toContain(secret);
});

test('the seats left are those of the tickets on sale', async () => {
  const [large, closed] = [
    await given.gala.addTicket({ capacity: 500 }),
    await given.gala.addTicket({ active: false }),
  ];
  await commitBatch(given.database.db, given.gala);
  const text = await read();
  const left = (ticket: number) =>
    valueOf(text, `floodgate_api_seats_left{event="${given.gala.eventId}",ticket="${ticket}"}`);
  expect([left(large), left(given.ticketId), left(closed)]).toEqual([500, 0, undefined]);
});

test('connections are counted by pool', async () => {
  const text = await read();
  const inState = (state: string) =>
    valueOf(text, `floodgate_api_pool_connections{pool="reserve",state="${state}"}`);
  expect(inState('busy')).toBe(0);
  expect(inState('idle')).toBeGreaterThan(0);
  expect(inState('waiting')).toBe(0);
});

test('the access log has a line per request, without secrets and attendees', async () => {
  const other = await startInProcessApi({ DATABASE_URL: given.database.url, ACCESS_LOG: 'true' });
  const client = new PartnerClient(other.baseUrl, given.gala);
  const { headers } = await client.register(attendee(await given.gala.addTicket()));
  await fetch(`${other.baseUrl}/nowhere?who=nobody@partner.floodgate-tests.org`);
  await other.close();
  const lines = other
    .log()
    .split('\n')
    .filter((line) => line.includes('"msg":"answered"'));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      requestId: headers.get('x-request-id'),
      method: 'POST',
      route: ROUTE,
      code: '00',
      batchId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      ms: expect.any(Number) as number,
    },
    { method: 'GET', route: 'none', code: '60' },
  ]);
  for (const text of [given.gala.secretKey, given.gala.eventRef, 'nobody@'])
    expect(lines.join('')).not.toContain(text);
});

test('whether the queue is down is told by each API for itself', async () => {
  expect(valueOf(await read(), 'floodgate_api_queue_down')).toBe(0);
  const otherPort = String(await findFreePort());
  // Nobody listens there.
  const QUEUE_URL = 'redis://127.0.0.1:1';
  const other = await startInProcessApi({
    DATABASE_URL: given.database.url,
    METRICS_PORT: otherPort,
    QUEUE_URL,
  });
  try {
    const text = await (await fetch(`http://127.0.0.1:${otherPort}/metrics`)).text();
    expect(valueOf(text, 'floodgate_api_queue_down')).toBe(1);
  } finally {
    await other.close();
  }
});

test('without METRICS_PORT nothing is served, and the port of partners never shows metrics', async () => {
  const other = await startInProcessApi({ DATABASE_URL: given.database.url });
  try {
    expect((await new PartnerClient(other.baseUrl, given.gala).tickets()).status).toBe(200);
    for (const { baseUrl } of [given.api, other])
      expect((await fetch(`${baseUrl}/metrics`)).status).toBe(404);
  } finally {
    await other.close();
  }
});
