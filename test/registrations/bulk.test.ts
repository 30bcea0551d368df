import { randomUUID } from 'node:crypto';
import { BULK_LIMIT } from '@floodgate/contract';
import { limitPartner } from '@floodgate/partners';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { expectFailure, expectTooLarge } from '../harness/expect-failure.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { PATIENT, startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'compares the books of its database' });

// Bulk calls: many registrations in one call.

test.override('ticket', {});

let proxy: TcpProxy;
let apis: [InProcessApi, InProcessApi];
let partner: PartnerClient;

test.beforeAll(async () => {
  proxy = await TcpProxy.start(given.database.url);
  apis = [
    await startInProcessApi({ DATABASE_URL: given.database.url, ...PATIENT }),
    await startInProcessApi({
      DATABASE_URL: proxy.through(given.database.url),
      QUEUE_URL: given.database.url,
      BATCH_LIMIT: '2',
    }),
  ];
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()));
  await proxy.stop();
});

beforeEach(async () => {
  partner = new PartnerClient(apis[0].baseUrl, given.gala);
});

const callBulk = (body: unknown, headers: Record<string, string> = {}, client = partner) =>
  client.request('/api/v1/events/register/bulk', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

type Envelope = Answer['body'];

/** Returns the envelopes of a successful call. */
function envelopesOf({ body }: Answer): Envelope[] {
  expect(body).toMatchObject({ responseCode: '00', responseMessage: 'Successful' });
  return body.responseData as Envelope[];
}

const codesOf = (answer: Answer) => envelopesOf(answer).map(({ responseCode }) => responseCode);
const passesOf = (answer: Answer) => envelopesOf(answer).map(({ responseData }) => responseData);
const guests = (count: number, ticket = given.ticketId) =>
  Array.from({ length: count }, (_, index) =>
    attendee(ticket, { emailAddress: `guest${index}@example.com`, extraData1: `${index}` }),
  );

async function takenOf(ticket = given.ticketId): Promise<number> {
  const row = await given.database.db
    .selectFrom('tickets')
    .select('taken')
    .where('id', '=', ticket)
    .execute();
  return row[0]!.taken;
}

test('each is answered in its place as the single call would have answered it', async () => {
  const [small, closed] = [
    await given.gala.addTicket({ capacity: 1 }),
    await given.gala.addTicket({ active: false }),
  ];
  const asked: unknown[] = [
    attendee(given.ticketId),
    attendee(small),
    attendee(small),
    attendee(closed),
    attendee(2_000_000_000),
    attendee(given.ticketId, { fullName: '  ', emailAddress: 'nobody', gender: 7 }),
    'nobody',
    {},
    attendee(given.ticketId, { fullName: '  Ada  ' }),
  ];
  const answer = await callBulk({ registrations: asked, mode: 'each' });
  expect(answer.status).toBe(200);
  expect(codesOf(answer)).toEqual(['00', '00', '32', '31', '30', '11', '11', '11', '00']);
  // The small ticket is sold out now. The other answers do not change.
  const singles = await Promise.all(
    asked.toSpliced(1, 1).map((body) => partner.register(JSON.stringify(body))),
  );
  const passReference = expect.stringMatching(/^GALA-\d+-\d+-\d{10}$/) as string;
  const inBulk = envelopesOf(answer).toSpliced(1, 1);
  expect(inBulk.map((one) => ({ ...one, responseData: one.responseData && passReference }))).toEqual(
    singles.map(({ body }) => ({ ...body, responseData: body.responseData && passReference })),
  );
  expect(await takenOf(small)).toBe(1);
  const stored = await sql<{ name: string; extra: string }>`
    select full_name as name from registrations where event_id = ${given.gala.eventId} and full_name = 'Ada'`.execute(
    given.database.db,
  );
  // One row of the bulk call, one of the single call.
  expect(stored.rows).toHaveLength(2);
});

test('pass references are those of the attendees in the same place', async () => {
  const answer = await callBulk({ registrations: guests(BULK_LIMIT) });
  const passes = passesOf(answer) as string[];
  expect(new Set(passes).size).toBe(BULK_LIMIT);
  const { rows } = await sql<{ serial: number; extra: string }>`
    select serial, extra_data_1 as extra from registrations where event_id = ${given.gala.eventId}`.execute(
    given.database.db,
  );
  const bySerial = new Map(rows.map(({ serial, extra }) => [String(serial), extra]));
  expect(passes.map((pass) => bySerial.get(pass.split('-')[2]!))).toEqual(
    Array.from({ length: BULK_LIMIT }, (_, index) => `${index}`),
  );
  const status = await partner.registration(passes[7]!);
  expect(status.body.responseData).toMatchObject({
    passReference: passes[7],
    organizedEventTicketID: given.ticketId,
  });
});

test('all or none: over several tickets, and who was not refused says so', async () => {
  const small = await given.gala.addTicket({ capacity: 2 });
  const group = (count: number) => [...guests(2), ...guests(count, small)];
  const refused = await callBulk({ registrations: group(3), mode: 'all' });
  expect(codesOf(refused)).toEqual(['36', '36', '36', '36', '32']);
  expect(envelopesOf(refused)[0]).toEqual({
    responseCode: '36',
    responseMessage: 'Not registered: another registration of the call was refused',
    responseData: null,
  });
  expect([await takenOf(), await takenOf(small)]).toEqual([0, 0]);
  expect(codesOf(await callBulk({ registrations: group(2), mode: 'all' }))).toEqual(['00', '00', '00', '00']);
  expect([await takenOf(), await takenOf(small)]).toEqual([2, 2]);
});

test('all or none: one that is not valid keeps the others out, and nothing is asked of Postgres', async () => {
  const registrations = [...guests(2), attendee(given.ticketId, { emailAddress: 'nobody' })];
  const answer = await callBulk({ registrations, mode: 'all' });
  expect(codesOf(answer)).toEqual(['36', '36', '11']);
  expect(await takenOf()).toBe(0);
});

test('a call as a whole is refused for what is wrong with all of it', async () => {
  const wrong: [unknown, string][] = [
    [{}, 'registrations: required, 1 to 1000 registrations, each with the fields of Register For Event'],
    [{ registrations: [] }, 'registrations: required'],
    [{ registrations: guests(BULK_LIMIT + 1) }, 'registrations: required'],
    [{ registrations: 'all' }, 'registrations: required'],
    [{ registrations: guests(1), mode: 'some' }, 'mode: optional, "each"'],
    [[], 'The body must be a JSON object'],
  ];
  for (const [body, message] of wrong) {
    const answer = await callBulk(body);
    expectFailure(answer, '11');
    expect(answer.body.responseMessage).toContain(message);
  }
  const key = await callBulk({ registrations: [{}] }, { 'idempotency-key': 'a b' });
  expectFailure(key, '11');
  expect(key.body.responseMessage).toBe('Idempotency-Key: 1 to 255 visible ASCII characters');
  const large = await callBulk({ registrations: guests(1), more: 'x'.repeat(1024 * 1024) });
  expect([large.status, large.body.responseMessage]).toEqual([413, 'The body is larger than 1024 KiB']);
  expect(await takenOf()).toBe(0);
});

test('one attendee comes once, also where one call names them again', async () => {
  await given.useEvent({ duplicatePolicy: 'reject' }, {});
  partner = new PartnerClient(apis[0].baseUrl, given.gala);
  const small = await given.gala.addTicket({ capacity: 1 });
  const [ada, bob] = ['ada@example.com', 'bob@example.com'].map((emailAddress) => ({ emailAddress }));
  const call = [
    attendee(small, bob),
    // This ticket is sold out, so Ada can still register for the other one.
    attendee(small, ada),
    attendee(given.ticketId, ada),
    attendee(given.ticketId, { emailAddress: 'ADA@example.com' }),
  ];
  expect(codesOf(await callBulk({ registrations: call }))).toEqual(['00', '32', '00', '33']);
  const later = await callBulk({ registrations: [attendee(given.ticketId, bob), ...guests(1)], mode: 'all' });
  expect(codesOf(later)).toEqual(['33', '36']);
});

test('a repeat with the same key is answered as before, whatever was refused, and reserves nothing', async () => {
  const small = await given.gala.addTicket({ capacity: 1 });
  const [key, other] = [randomUUID(), randomUUID()];
  const call = { registrations: [...guests(2, small), {}, ...guests(1)] };
  const first = await callBulk(call, { 'idempotency-key': key });
  expect(codesOf(first)).toEqual(['00', '32', '11', '00']);
  expect(first.headers.has('idempotent-replayed')).toBe(false);
  await sql`update tickets set capacity = 10 where id = ${small}`.execute(given.database.db);
  for (const api of apis) {
    const again = await callBulk(
      call,
      { 'idempotency-key': key },
      new PartnerClient(api.baseUrl, given.gala),
    );
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  }
  expectFailure(await callBulk({ registrations: guests(1) }, { 'idempotency-key': key }), '40');
  expectFailure(await partner.register(attendee(given.ticketId), { 'idempotency-key': key }), '40');
  await partner.register(attendee(given.ticketId), { 'idempotency-key': other });
  expectFailure(await callBulk(call, { 'idempotency-key': other }), '40');
  expect([await takenOf(small), await takenOf()]).toEqual([1, 2]);
});

test('while the first one is under way the same key is in progress, and then answered', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const held = await holdTicket(given.database.db, given.ticketId);
  const first = callBulk({ registrations: guests(3) }, key);
  await waitForLockWaiters(given.database.db, 1);
  expectFailure(await callBulk({ registrations: guests(3) }, key), '41');
  await held.release();
  expect(codesOf(await first)).toEqual(['00', '00', '00']);
  expect((await callBulk({ registrations: guests(3) }, key)).text).toBe((await first).text);
});

test.each([
  ['with a key', randomUUID()],
  ['without one', undefined],
])('%s, where the answer of Postgres is cut off, the call has its first answer', async (_how, key) => {
  const client = new PartnerClient(apis[1].baseUrl, given.gala);
  const small = await given.gala.addTicket({ capacity: 2 });
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  // Warms the caches, so that the next answer of Postgres is that of the batch.
  expect(codesOf(await callBulk({ registrations: guests(1) }, {}, client))).toEqual(['00']);
  proxy.setMode('cut-next-answer');
  const answer = await callBulk({ registrations: guests(3, small) }, headers, client);
  expect(codesOf(answer)).toEqual(['00', '00', '32']);
  expect(answer.headers.has('idempotent-replayed')).toBe(false);
  expect(await takenOf(small)).toBe(2);
  expect(await reconcile(given.database.db)).toEqual([]);
});

test('a call counts as many against a limit as it registers', async () => {
  await limitPartner(given.database.db, given.gala.partnerId, 10);
  await waitUntil('the limit is known', async () =>
    (await partner.tickets()).headers.has('ratelimit-policy'),
  );
  const refused = await callBulk({ registrations: guests(11) });
  expectTooLarge(refused);
  expect(refused.headers.get('ratelimit-policy')).toBe('"partner";q=10;w=1');
  // The limit admits one call of this size per second, but not two.
  await waitUntil('seven pass', async () => (await callBulk({ registrations: guests(7) })).status === 200);
  const taken = await takenOf();
  const both = await Promise.all([1, 2].map(() => callBulk({ registrations: guests(6) })));
  const passed = both.filter(({ status }) => status === 200).length;
  expect(passed).toBeLessThanOrEqual(2);
  expect(await takenOf()).toBe(taken + 6 * passed);
});

test('beside single calls some bulk calls wait for their turn; more are refused, and nothing of them is reserved', async () => {
  await given.useTicket({ capacity: 10_000 });
  const held = await holdTicket(given.database.db, given.ticketId);
  const single = partner.register(attendee(given.ticketId));
  await waitForLockWaiters(given.database.db, 1);
  // Small bulk calls are treated as single calls.
  const small = Array.from({ length: 20 }, () => callBulk({ registrations: guests(2) }));
  let refused = 0;
  const calls = Array.from({ length: 40 }, async () => {
    const answer = await callBulk({ registrations: guests(100) });
    if (answer.status !== 503) return codesOf(answer);
    expectFailure(answer, '90');
    refused += 1;
    return [];
  });
  await waitUntil('some are refused', () => refused > 0);
  await held.release();
  expect((await single).body.responseCode).toBe('00');
  for (const answer of small) expect(codesOf(await answer)).toEqual(['00', '00']);
  const codes = (await Promise.all(calls)).flat();
  expect(new Set(codes)).toEqual(new Set(['00']));
  expect(codes).toHaveLength(100 * (calls.length - refused));
  expect(await takenOf()).toBe(1 + 2 * small.length + codes.length);
});
