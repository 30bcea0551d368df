import { afterEach, beforeEach, expect } from 'vitest';
import { limitPartner } from '@floodgate/partners';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({ sharesEvent: true });

let body: string;
let connection: RawConnection;

test.beforeAll(async () => {
  body = JSON.stringify(attendee(await given.gala.addTicket()));
});

beforeEach(async () => {
  connection = await RawConnection.open(given.api.baseUrl);
});

afterEach(() => connection.close());

/** The head of a registration that waits to be invited. */
const head = (headers: Record<string, string> = {}, { secretKey, eventRef } = given.gala) =>
  requestText('POST /api/v1/events/register', {
    host: 'api',
    'x-secret-key': secretKey,
    'x-event-ref': eventRef,
    'content-type': 'application/json',
    'content-length': String(body.length),
    expect: '100-continue',
    ...headers,
  });

test('a body that will be read is invited once, and the connection stays open', async () => {
  for (const _attempt of [1, 2]) {
    connection.send(head());
    await connection.received('HTTP/1.1 100 Continue\r\n\r\n');
    connection.send(body);
    const answer = await connection.answer();
    expect(answer.body.responseCode).toBe('00');
    expect(answer.headers.get('connection')).toBe('keep-alive');
  }
});

test.each([
  ['its key is unknown', '20', 401, () => head({ 'x-secret-key': 'fg_unknown' })],
  ['its key is missing', '20', 401, () => head().replace(/x-secret-key.*\r\n/, '')],
  ['its event is missing', '12', 400, () => head({ 'x-event-ref': '' })],
  ['its path leads nowhere', '60', 404, () => head().replace('/register', '/nothing')],
  ['its body is too long', '10', 413, () => head({ 'content-length': '1000000' })],
  ['its body is of another type', '10', 415, () => head({ 'content-type': 'text/plain' })],
  ['its Host is malformed', '10', 400, () => head({ host: 'x y' })],
] as const)('a registration is not invited where %s', async (_why, code, status, text) => {
  connection.send(text());
  const answer = await connection.answer();
  expectFailure(answer, code, status);
  expect(answer.headers.get('connection')).toBe('close');
  expect(await connection.closed()).toBe('');
});

test('a registration above the limit is not invited', async () => {
  const limited = await createFixture(given.database.db);
  await limitPartner(given.database.db, limited.partnerId, 1);
  const partner = new PartnerClient(given.api.baseUrl, limited);
  await waitUntil('an answer 50 to a head', async () => {
    await partner.tickets();
    const other = await RawConnection.open(given.api.baseUrl);
    other.send(head({}, limited));
    const answer = await other.answer().catch(() => null);
    other.close();
    return answer?.status === 429;
  });
});

test.each([{}, { 'content-length': '2' }])('a list of tickets with %o is not invited', async (content) => {
  const { secretKey, eventRef } = given.gala;
  const caller = { host: 'api', 'x-secret-key': secretKey, 'x-event-ref': eventRef };
  const asking = { expect: '100-continue', ...content };
  connection.send(requestText('GET /api/v1/events/tickets', { ...caller, ...asking }));
  expect((await connection.answer()).status).toBe(200);
  expect(await connection.closed()).toBe('');
});
