import { issueKey } from '@floodgate/partners';
import { afterEach, beforeEach, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { attendee } from '../harness/partner-client.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ sharesEvent: true });

const REGISTER = '/api/v1/events/register';
const TICKETS = '/api/v1/events/tickets';

test.override('apiSettings', { ANSWER_WITHIN_MS: '10000' });
test.override('ticket', {});

let caller: Record<string, string>;
let connection: RawConnection;

test.beforeAll(async () => {
  caller = { host: 'api', 'x-secret-key': given.gala.secretKey, 'x-event-ref': given.gala.eventRef };
});

beforeEach(async () => {
  connection = await RawConnection.open(given.api.baseUrl);
});

afterEach(() => connection.close());

const getTickets = (headers: Record<string, string> = {}, body = '') =>
  requestText(`GET ${TICKETS}`, { ...caller, ...headers }, body);

const postJson = (headers: Record<string, string>, body: string) =>
  requestText(`POST ${REGISTER}`, { ...caller, 'content-type': 'application/json', ...headers }, body);

function registration(headers: Record<string, string> = {}): string {
  const body = JSON.stringify(attendee(given.ticketId));
  return postJson({ 'content-length': String(body.length), ...headers }, body);
}

const chunked = { 'transfer-encoding': 'chunked' };

test.each([
  ['garbage', 400, () => '\x16\x03\x01\x02\x00\x01\r\n\r\n'],
  ['an unknown version', 400, () => getTickets().replace('HTTP/1.1', 'HTTP/9.9')],
  ['HTTP/0.9', 400, () => getTickets().replace('HTTP/1.1', 'HTTP/0.9')],
  ['HTTP/2.0', 400, () => getTickets().replace('HTTP/1.1', 'HTTP/2.0')],
  ['chunks in HTTP/1.0', 400, () => getTickets(chunked, '0\r\n\r\n').replace('HTTP/1.1', 'HTTP/1.0')],
  ['chunks of nothing', 400, () => getTickets({ 'transfer-encoding': 'identity, chunked' }, '0\r\n\r\n')],
  [
    'chunks by two names',
    400,
    () => getTickets({ 'transfer-encoding': 'chunked;q=1, chunked' }, '0\r\n\r\n'),
  ],
  ['two Host headers', 400, () => getTickets({ Host: 'other' })],
  ['a Host with a blank', 400, () => getTickets({ host: 'x y' })],
  ['a Host with half a pair of brackets', 400, () => getTickets({ host: '[::1' })],
  ['a Host with a path', 400, () => getTickets({ host: 'api/v1' })],
  ['a Host with a name for its port', 400, () => getTickets({ host: 'api:http' })],
  ['a method that does not exist', 400, () => getTickets().replace('GET', 'FROBNICATE')],
  ['a header without a colon', 400, () => getTickets().replace('host: api', 'host api')],
  ['a header name with a space', 400, () => getTickets({ 'x y': 'z' })],
  ['a line feed in a header', 400, () => getTickets({ extra: 'a\nb' })],
  ['headers that are too large', 431, () => getTickets({ extra: 'x'.repeat(17_000) })],
  ['too many headers of a moderate size', 431, () => getTickets(manyHeaders())],
  ['a Content-Length that is no number', 400, () => registration({ 'content-length': 'many' })],
  ['a negative Content-Length', 400, () => registration({ 'content-length': '-1' })],
  ['two Content-Lengths that differ', 400, () => registration({ 'Content-Length': '3' })],
  ['Content-Length beside chunks', 400, () => registration(chunked)],
  ['an unknown transfer encoding', 400, () => postJson({ 'transfer-encoding': 'rot13' }, '')],
  ['garbage in place of the first chunk', 400, () => postJson(chunked, 'garbage\r\n\r\n')],
  ['garbage in place of the second chunk', 400, () => postJson(chunked, '1\r\n{\r\ngarbage\r\n\r\n')],
])(
  '%s is answered 10, the connection is closed, and nothing behind it happens',
  async (_what, status, text) => {
    const before = await countStored();
    connection.send(text() + registration());
    const answer = await connection.answer();
    expectFailure(answer, '10', status);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await connection.closed()).toBe('');
    connection = await RawConnection.open(given.api.baseUrl);
    connection.send(registration());
    expect((await connection.answer()).body.responseCode).toBe('00');
    expect(await countStored()).toBe(before + 1);
  },
);

async function countStored(): Promise<number> {
  const rows = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('serial')
    .where('event_id', '=', given.gala.eventId)
    .execute();
  return rows.length;
}

function manyHeaders(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, 'y'.repeat(80)]));
}

test.each([
  ['a missing Host header', '10', 400, () => getTickets().replace('host: api\r\n', '')],
  ['bad percent-encoding', '10', 400, () => getTickets().replace(TICKETS, '/api/v1/events/%zz')],
  ['two Content-Types', '10', 415, () => registration({ 'Content-Type': 'application/json' })],
  ['a type behind no-break space', '10', 415, () => registration({ 'content-type': '\xa0application/json' })],
  ['a type before no-break space', '10', 415, () => registration({ 'content-type': 'application/json\xa0' })],
  ['an unknown method on a route', '60', 405, () => getTickets().replace('GET', 'PROPFIND')],
  ['an unknown method off the routes', '60', 404, () => requestText('PROPFIND /api/', caller)],
  ['a path that only resembles a route', '60', 404, () => requestText('GET /api/v1/openapiXjson', caller)],
  ['an unknown route with a malformed body', '60', 404, () => unknownRoute('{"', '2')],
] as const)('%s is answered %s', async (_what, code, status, text) => {
  connection.send(text(), 'latin1');
  expectFailure(await connection.answer(), code, status);
});

const unknownRoute = (body: string, length: string) =>
  postJson({ 'content-length': length }, body).replace(REGISTER, '/api/v1/nothing');

test('CONNECT is answered 60, and the connection is closed', async () => {
  connection.send(requestText('CONNECT example.com:443', { host: 'example.com' }));
  expectFailure(await connection.answer(), '60', 405);
  expect(await connection.closed()).toBe('');
});

test('CONNECT behind a slow request is answered after it', async () => {
  const held = await holdTicket(given.database.db, given.ticketId);
  connection.send(registration() + requestText('CONNECT example.com:443', { host: 'example.com' }));
  await held.waiters(1);
  await held.release();
  expect((await connection.answer()).body.responseCode).toBe('00');
  expectFailure(await connection.answer(), '60', 405);
  expect(await connection.closed()).toBe('');
});

test('no upgrade is made, and nobody waits for an answer to what was sent behind one', async () => {
  connection.send(getTickets({ connection: 'upgrade', upgrade: 'h2c' }) + registration());
  const answer = await connection.answer();
  expect(answer.body.responseCode).toBe('00');
  expect(answer.headers.get('connection')).toBe('close');
  expect(await connection.closed()).toBe('');
});

test('a request that was refused by its head gets no second answer for its body', async () => {
  const refused = (body: string) => postJson({ ...chunked, 'x-secret-key': '' }, body);
  connection.send(refused('garbage\r\n\r\n'));
  expectFailure(await connection.answer(), '20', 401);
  expect(await connection.closed()).toBe('');
  connection = await RawConnection.open(given.api.baseUrl);
  connection.send(refused(''));
  expectFailure(await connection.answer(), '20', 401);
  connection.send('garbage\r\n\r\n');
  expect(await connection.closed()).toBe('');
});

test.each(['api:3000', '[::1]:3000', '10.0.0.1', 'my_api.example.', 'xn--mnchen-3ya.de', ''])(
  'the Host header may be %o',
  async (host) => {
    connection.send(getTickets({ host }));
    expect((await connection.answer()).body.responseCode).toBe('00');
  },
);

test('HTTP/1.0 needs no Host header', async () => {
  connection.send(getTickets().replace('host: api\r\n', '').replace('HTTP/1.1', 'HTTP/1.0'));
  expect((await connection.answer()).body.responseCode).toBe('00');
});

test('an expectation nobody knows is ignored', async () => {
  connection.send(registration({ expect: 'a-miracle' }));
  expect((await connection.answer()).body.responseCode).toBe('00');
});

test('garbage behind a request is answered after that request, whose answer stays whole', async () => {
  const held = await holdTicket(given.database.db, given.ticketId);
  connection.send(`${registration()}garbage\r\n\r\n`);
  await held.waiters(1);
  await held.release();
  expect(await connection.answer()).toMatchObject({ status: 200, body: { responseCode: '00' } });
  expectFailure(await connection.answer(), '10', 400);
  expect(await connection.closed()).toBe('');
});

test('garbage behind a quick and a slow request is answered after both', async () => {
  // A key that was never used: the first answer cannot be at hand before the garbage is read.
  const { secretKey } = await issueKey(given.database.db, given.gala.partnerId);
  const held = await holdTicket(given.database.db, given.ticketId);
  connection.send(`${getTickets({ 'x-secret-key': secretKey })}${registration()}garbage\r\n\r\n`);
  expect((await connection.answer()).body.responseData).toMatchObject([{ id: given.ticketId }]);
  await held.waiters(1);
  await held.release();
  expect((await connection.answer()).text).toMatch(/^{"responseCode":"00",.*"GALA-/);
  expectFailure(await connection.answer(), '10', 400);
  expect(await connection.closed()).toBe('');
});

test('pipelined requests are answered in their order, slow and quick ones', async () => {
  const { secretKey } = await issueKey(given.database.db, given.gala.partnerId);
  connection.send((registration() + getTickets({ 'x-secret-key': secretKey })).repeat(8));
  for (let count = 0; count < 8; count++) {
    expect((await connection.answer()).body.responseData).toMatch(/^GALA-/);
    expect((await connection.answer()).body.responseData).toMatchObject([{ id: given.ticketId }]);
  }
});

test.each([
  ['no body', () => getTickets()],
  ['{}', () => getTickets({ 'content-type': 'application/json', 'content-length': '2' }, '{}')],
  [
    'JSON that is malformed',
    () => getTickets({ 'content-type': 'application/json', 'content-length': '2' }, '{"'),
  ],
  ['plain text', () => getTickets({ 'content-type': 'text/plain', 'content-length': '7' }, 'GET / \r')],
  ['chunks', () => getTickets({ 'content-type': 'application/json', ...chunked }, '2\r\n{}\r\n0\r\n\r\n')],
  ['a body larger than 36 KiB', () => getTickets({ 'content-length': '40000' }, 'x'.repeat(40_000))],
])('Get Tickets does not read its body (%s), and the connection stays usable', async (_what, text) => {
  for (const _attempt of [1, 2, 3]) {
    connection.send(text());
    const answer = await connection.answer();
    expect(answer.status).toBe(200);
    expect(answer.body.responseData).toMatchObject([{ id: given.ticketId }]);
    expect(answer.headers.get('connection')).toBe('keep-alive');
  }
  connection.send(registration());
  expect((await connection.answer()).body.responseCode).toBe('00');
});
