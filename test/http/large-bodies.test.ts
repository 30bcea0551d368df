import { expect, onTestFinished } from 'vitest';
import { limitPartner } from '@floodgate/partners';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure, expectTooLarge } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { attendee } from '../harness/partner-client.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest();

const MEBIBYTE = 1024 * 1024;
const BULK = '/api/v1/events/register/bulk';

const callBulk = (body: string) =>
  given.partner.request(BULK, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

/** A bulk call of a mebibyte that holds one item as often as it fits. */
function fullOf(item: string): string {
  const count = Math.floor((MEBIBYTE - 30) / (item.length + 1));
  return `{"registrations":[${Array(count).fill(item).join(',')}]}`;
}

test.each(['1', '{}', '[]', '""'])('a mebibyte of %s is answered 413 and is not parsed', async (item) => {
  const answer = await callBulk(fullOf(item));
  expectFailure(answer, '10', 413);
  expect(answer.body.responseMessage).toBe('The body has more than 65536 values');
});

test('a body that is nested half a million times is answered 413 and is not parsed', async () => {
  expectFailure(await callBulk(`${'['.repeat(MEBIBYTE / 2)}${']'.repeat(MEBIBYTE / 2)}`), '10', 413);
});

test('a list of two thousand types of messages is answered 413 and is not validated', async () => {
  const answer = await given.partner.request('/api/v1/webhooks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://partner.example/', types: Array(2_000).fill(1) }),
  });
  expectFailure(answer, '10', 413);
});

test('of more than a thousand registrations none is looked at, and everything else that is wrong is named', async () => {
  const registrations = Array.from({ length: 1_001 }, () => ({ fullName: 1 }));
  const answer = await given.partner.request(BULK, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'hold-for': 'long' },
    body: JSON.stringify({ registrations, mode: 'some' }),
  });
  expectFailure(answer, '11');
  for (const field of ['registrations: required, 1 to 1000', 'mode: ', 'Hold-For: '])
    expect(answer.body.responseMessage).toContain(field);
  expect(answer.body.responseMessage).not.toContain('fullName');
});

const headOf = ({ secretKey, eventRef }: Fixture, headers: Record<string, string>) =>
  requestText(`POST ${BULK}`, {
    host: 'api',
    'x-secret-key': secretKey,
    'x-event-ref': eventRef,
    'content-type': 'application/json',
    ...headers,
  });

/** Begins a call whose body never ends. */
async function begin(caller: Fixture, headers: Record<string, string>): Promise<RawConnection> {
  const connection = await RawConnection.open(given.api.baseUrl);
  onTestFinished(() => connection.close());
  connection.send(headOf(caller, { expect: '100-continue', ...headers }));
  return connection;
}

const invited = (connection: RawConnection) => connection.received('HTTP/1.1 100 Continue\r\n\r\n');

test.each([
  ['announced', { 'content-length': String(MEBIBYTE) }],
  ['chunked', { 'transfer-encoding': 'chunked' }],
])('one partner holds 16 MiB of bodies that are %s, and keeps no other out', async (_how, size) => {
  const connections = await Promise.all(Array.from({ length: 16 }, () => begin(given.gala, size)));
  await Promise.all(connections.map(invited));
  const refused = await (await begin(given.gala, size)).answer();
  expectFailure(refused, '90');
  expect(refused.headers.has('retry-after')).toBe(true);
  // Small bodies need no room, and others have their own.
  const ticketId = await given.gala.addTicket();
  expect((await given.partner.register(attendee(ticketId))).body.responseCode).toBe('00');
  await invited(await begin(await createFixture(given.database.db), size));

  connections[0]!.close();
  await waitUntil('there is room again', async () => {
    const next = await begin(given.gala, size);
    return invited(next).then(
      () => true,
      () => false,
    );
  });
});

test('an answered call gives its room back', async () => {
  const ticketId = await given.gala.addTicket({ capacity: 1_000 });
  const padding = 'x'.repeat(MEBIBYTE - 1_000);
  const body = JSON.stringify({ registrations: [{ ...attendee(ticketId), padding }] });
  for (let call = 0; call < 20; call += 1) expect((await callBulk(body)).body.responseCode).toBe('00');
});

test('calls that wait for their seat hold no room once their bodies are read', async () => {
  const ticketId = await given.gala.addTicket({ capacity: 1_000 });
  const body = JSON.stringify(attendee(ticketId));
  const held = await holdTicket(given.database.db, ticketId);
  const connections = await Promise.all(
    Array.from({ length: 500 }, () => RawConnection.open(given.api.baseUrl)),
  );
  for (const [index, connection] of connections.entries()) {
    const text = headOf(given.gala, { 'transfer-encoding': 'chunked' }).replace(
      BULK,
      '/api/v1/events/register',
    );
    connection.send(`${text}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    // The heads of more calls than have room could arrive before the bodies. An answer to a later call comes
    // after the bodies were read.
    if (index % 100 === 99) for (let count = 0; count < 2; count += 1) await given.partner.tickets();
  }
  const answers = await Promise.all(connections.map((connection) => connection.answer()));
  await held.release();
  for (const connection of connections) connection.close();
  expect(answers.filter(({ headers }) => headers.get('connection') === 'close')).toEqual([]);
});

test.each([
  ['is of another type', { 'content-type': 'text/plain' }, '{}'],
  ['is cut off', {}, '{'],
] as const)('a body that %s gives its room back', async (_how, headers, body) => {
  const size = 36 * 1024;
  const text = headOf(given.gala, { 'content-length': String(size), ...headers }).replace(
    BULK,
    '/api/v1/events/register',
  );
  for (let round = 0; round < 10; round += 1) {
    const connections = await Promise.all(
      Array.from({ length: 100 }, () => RawConnection.open(given.api.baseUrl)),
    );
    for (const connection of connections) connection.send(text + body);
    if ('content-type' in headers)
      for (const connection of connections) expectFailure(await connection.answer(), '10', 415);
    for (const connection of connections) connection.close();
  }
  const padding = 'x'.repeat(32 * 1024);
  await waitUntil('there is room', async () => {
    const { body: answer } = await given.partner.register({
      ...attendee(await given.gala.addTicket()),
      padding,
    });
    return answer.responseCode === '00';
  });
});

async function limitTo(requestsPerSecond: number): Promise<void> {
  await limitPartner(given.database.db, given.gala.partnerId, requestsPerSecond);
  await waitUntil('the limit is known', async () =>
    (await given.partner.tickets()).headers.has('ratelimit-policy'),
  );
}

test('a large body counts as one request for every 4 KiB, before it is read', async () => {
  await limitTo(255);
  expectTooLarge(await (await begin(given.gala, { 'content-length': String(MEBIBYTE) })).answer());
  await limitPartner(given.database.db, given.gala.partnerId, 256);
  await waitUntil('a mebibyte is invited', async () => {
    const connection = await begin(given.gala, { 'content-length': String(MEBIBYTE) });
    return invited(connection).then(
      () => true,
      () => false,
    );
  });
});

test('a chunked body counts when its size is known, before it is parsed', async () => {
  await limitTo(40);
  const connection = await begin(given.gala, { 'transfer-encoding': 'chunked' });
  await invited(connection);
  const bytes = 200 * 1024;
  connection.send(`${bytes.toString(16)}\r\n${'{'.repeat(bytes)}\r\n0\r\n\r\n`);
  expectTooLarge(await connection.answer());
});
