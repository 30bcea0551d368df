import { updateEvent } from '@floodgate/events';
import { issueKey, limitPartner, revokeKey } from '@floodgate/partners';
import {
  RESPONSE_CODES,
  WEBHOOK_LIMIT,
  type ResponseCode,
  type ResponseCodeEntry,
} from '@floodgate/contract';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { refusePoison } from '../harness/poison.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { exchange, requestText } from '../harness/raw-http.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { perform } from '@floodgate/audit';
import { pauseWebhookAction } from '@floodgate/webhooks/actions';
import { apiTest } from '../harness/api-test.ts';
import { addWebhook } from '../harness/webhooks.ts';

const { test, given } = apiTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

const REGISTER = '/api/v1/events/register';
const TICKETS = '/api/v1/events/tickets';
const HOUR_MS = 3_600_000;
const SUCCESS =
  /^\{"responseCode":"00","responseMessage":"Successful","responseData":"GALA-[0-9]+-[0-9]+-[0-9]{10}"\}$/;

test.override('apiSettings', { ANSWER_WITHIN_MS: '10000' });
test.override('ticket', {});

let proxy: TcpProxy;
let proxiedApi: InProcessApi;
let onePerAttendee: Fixture;

test.beforeAll(async () => {
  proxy = await TcpProxy.start(given.database.url);
  proxiedApi = await startInProcessApi({
    DATABASE_URL: proxy.through(given.database.url),
    QUEUE_URL: given.database.url,
    ANSWER_WITHIN_MS: '1500',
  });
  onePerAttendee = await createFixture(given.database.db, 'reject');
  await refusePoison(given.database.db);
});

afterAll(async () => {
  await Promise.all([given.api.close(), proxiedApi.close()]);
  await proxy.stop();
});

/** A code, its HTTP status, when it is answered, and how that is brought about. */
type Provocation = [ResponseCode, number, string, () => Promise<Answer>];

const withKey = (secretKey: string) =>
  given.partner.request(TICKETS, { headers: { 'x-secret-key': secretKey } });
const withEventRef = (eventRef: string) =>
  given.partner.request(TICKETS, { headers: { 'x-event-ref': eventRef } });
const withWrongKey = (body: string, headers = {}) =>
  given.partner.register(body, { 'x-secret-key': 'wrong', ...headers });
const getTickets = (headers: Record<string, string>) =>
  exchange(given.api.baseUrl, requestText(`GET ${TICKETS}`, { host: 'api', ...headers }));
const register = (differing = {}) => given.partner.register(attendee(given.ticketId, differing));

function withKeyTwice(): Promise<Answer> {
  const { eventRef, secretKey } = given.gala;
  return getTickets({ 'x-event-ref': eventRef, 'x-secret-key': secretKey, 'X-Secret-Key': secretKey });
}

async function onTicket(settings: Parameters<Fixture['addTicket']>[0]): Promise<Answer> {
  return given.partner.register(attendee(await given.gala.addTicket(settings)));
}

async function cancelTooLate(): Promise<Answer> {
  const late = await createFixture(given.database.db);
  await updateEvent(given.database.db, late.eventId, { cancelUntil: new Date(Date.now() - HOUR_MS) });
  const client = new PartnerClient(given.api.baseUrl, late);
  const { body } = await client.register(attendee(await late.addTicket()));
  return client.cancel(String(body.responseData));
}

async function passTooEarly(): Promise<Answer> {
  const { body } = await register();
  return given.partner.pass(String(body.responseData));
}

async function withExpiredKey(): Promise<Answer> {
  const key = await issueKey(given.database.db, given.gala.partnerId, new Date(Date.now() - HOUR_MS));
  return withKey(key.secretKey);
}

async function withRevokedKey(): Promise<Answer> {
  const key = await issueKey(given.database.db, given.gala.partnerId);
  await revokeKey(given.database.db, key.keyId);
  return withKey(key.secretKey);
}

async function onTicketOfAnotherEvent(): Promise<Answer> {
  return given.partner.register(attendee(await onePerAttendee.addTicket()));
}

async function twiceInAnotherCase(): Promise<Answer> {
  const client = new PartnerClient(given.api.baseUrl, onePerAttendee);
  const ticket = await onePerAttendee.addTicket();
  const first = await client.register(attendee(ticket, { emailAddress: 'ada@example.com' }));
  expect(first.body.responseCode).toBe('00');
  return client.register(attendee(ticket, { emailAddress: 'ADA@Example.COM', fullName: 'Ada' }));
}

/** Asks for webhooks of the kind that a partner may have ten of. */
async function oneWebhookTooMany(): Promise<Answer> {
  const own = await createFixture(given.database.db);
  const url = 'https://partner.example/hook';
  for (let count = 0; count < WEBHOOK_LIMIT; count += 1) await addWebhook(given.database.db, own, { url });
  const body = JSON.stringify({ url });
  const headers = { 'content-type': 'application/json' };
  return new PartnerClient(given.api.baseUrl, own).request('/api/v1/webhooks', {
    method: 'POST',
    headers,
    body,
  });
}

async function resumedAgainstTheOperator(): Promise<Answer> {
  const own = await createFixture(given.database.db);
  const { endpoint } = await addWebhook(given.database.db, own, { url: 'https://partner.example/hook' });
  await perform(given.database.db, pauseWebhookAction, { webhookId: endpoint.id }, 'operator');
  const path = `/api/v1/webhooks/${endpoint.id}/resume`;
  return new PartnerClient(given.api.baseUrl, own).request(path, { method: 'POST' });
}

/** A registration that exists, looked up under a pass reference that was tampered with. */
async function lookUp(client: PartnerClient, tamper = (reference: string) => reference): Promise<Answer> {
  const { body } = await given.partner.register(attendee(given.ticketId));
  return client.registration(tamper(body.responseData as string));
}

async function keyWithAnotherBody(): Promise<Answer> {
  const headers = { 'idempotency-key': randomUUID() };
  await given.partner.register(attendee(given.ticketId), headers);
  return given.partner.register(attendee(given.ticketId, { extraData1: 'vegan' }), headers);
}

async function whileTheFirstIsInFlight(): Promise<Answer> {
  const headers = { 'idempotency-key': randomUUID() };
  const held = await holdTicket(given.database.db, given.ticketId);
  const first = given.partner.register(attendee(given.ticketId), headers);
  await held.waiters(1);
  const second = await given.partner.register(attendee(given.ticketId), headers);
  await held.release();
  expect((await first).body.responseCode).toBe('00');
  return second;
}

async function aboveTheLimit(): Promise<Answer> {
  const limited = await createFixture(given.database.db);
  await limitPartner(given.database.db, limited.partnerId, 1);
  const client = new PartnerClient(given.api.baseUrl, limited);
  return waitUntil('two requests fall into one second', async () => {
    const answers = await Promise.all([client.tickets(), client.tickets()]);
    return answers.find(({ body }) => body.responseCode !== '00');
  });
}

async function withoutPostgres(): Promise<Answer> {
  proxy.setMode('down');
  const answer = await new PartnerClient(proxiedApi.baseUrl, given.gala).register(attendee(given.ticketId));
  proxy.setMode('pass');
  return answer;
}

/** A read that takes so long that it is given up. */
async function withLockedTable(): Promise<Answer> {
  const { body } = await given.partner.register(attendee(given.ticketId));
  const client = new PartnerClient(proxiedApi.baseUrl, given.gala);
  expect((await client.tickets()).body.responseCode).toBe('00');
  const rival = await given.database.db.startTransaction().execute();
  await sql`lock table registrations in access exclusive mode`.execute(rival);
  const answer = await client.registration(body.responseData as string);
  await rival.rollback().execute();
  return answer;
}

/** Postgres commits, but what it says is lost. */
async function withSwallowedCommit(): Promise<Answer> {
  const held = await holdTicket(given.database.db, given.ticketId);
  const answer = new PartnerClient(proxiedApi.baseUrl, given.gala).register(attendee(given.ticketId));
  await held.waiters(1);
  proxy.setMode('swallow-answers');
  await held.release();
  return answer.finally(() => proxy.setMode('pass'));
}

const INACTIVE = { active: false };
const NOT_YET = { saleStartsAt: new Date(Date.now() + HOUR_MS) };
const NO_LONGER = { saleEndsAt: new Date(Date.now() - HOUR_MS) };
const UNKNOWN_KEY = `fg_${'0'.repeat(16)}_${'A'.repeat(43)}`;

const PROVOCATIONS: Provocation[] = [
  ['00', 200, 'a seat is left', () => register()],
  ['10', 400, 'the body is not JSON', () => given.partner.register('{"fullName":')],
  ['10', 400, 'the body is empty', () => given.partner.register('')],
  ['10', 400, 'the request is not HTTP', () => exchange(given.api.baseUrl, 'hello\r\n\r\n')],
  ['10', 413, 'the body is too large', () => given.partner.register('1'.repeat(40_000))],
  ['10', 415, 'the body is XML', () => given.partner.register('<a/>', { 'content-type': 'application/xml' })],
  ['10', 415, 'the body is plain text', () => given.partner.register('{}', { 'content-type': 'text/plain' })],
  ['10', 431, 'the headers are too large', () => getTickets({ padding: 'x'.repeat(20_000) })],
  ['11', 422, 'a field is wrong', () => register({ fullName: ' ' })],
  ['11', 422, 'the body is an array', () => given.partner.register('[]')],
  [
    '11',
    422,
    'a pass is asked for as text',
    () => given.partner.pass('GALA-1-1-1234567890', { accept: 'text/*' }),
  ],
  ['12', 400, 'x-event-ref is missing', () => getTickets({ 'x-secret-key': given.gala.secretKey })],
  ['12', 400, 'x-event-ref is no UUID', () => withEventRef(String(given.gala.eventId))],
  ['20', 401, 'x-secret-key is missing', () => getTickets({ 'x-event-ref': given.gala.eventRef })],
  ['20', 401, 'x-secret-key comes twice', withKeyTwice],
  ['20', 401, 'the key is empty', () => withKey('')],
  ['20', 401, 'the key has no form', () => withKey('wrong')],
  ['20', 401, 'the key is unknown', () => withKey(UNKNOWN_KEY)],
  ['20', 401, 'the secret is wrong', () => withKey(`${given.gala.secretKey.slice(0, -43)}${'A'.repeat(43)}`)],
  ['20', 401, 'the key is expired', withExpiredKey],
  ['20', 401, 'the key is revoked', withRevokedKey],
  ['20', 401, 'the body is malformed, too', () => withWrongKey('{"fullName":')],
  ['20', 401, 'the body is too large, too', () => withWrongKey('1'.repeat(40_000))],
  ['20', 401, 'the event reference is wrong, too', () => withWrongKey('{}', { 'x-event-ref': 'wrong' })],
  ['21', 404, 'the event is unknown', () => withEventRef(randomUUID())],
  ['21', 404, 'the event is not granted', () => withEventRef(onePerAttendee.eventRef)],
  ['30', 404, 'the ticket is unknown', () => given.partner.register(attendee(2147483647))],
  ['30', 404, "the ticket is another event's", onTicketOfAnotherEvent],
  ['31', 409, 'the ticket is inactive', () => onTicket(INACTIVE)],
  ['31', 409, 'the sale has not begun', () => onTicket(NOT_YET)],
  ['31', 409, 'the sale is over', () => onTicket(NO_LONGER)],
  ['32', 409, 'no seat is left', () => onTicket({ capacity: 0 })],
  ['33', 409, 'the e-mail address is registered in another case', twiceInAnotherCase],
  ['35', 409, 'the time to cancel is over', cancelTooLate],
  ['35', 409, 'a pass is asked for before the registration is confirmed', passTooEarly],
  ['37', 409, 'the partner holds its share of the ticket', holdMoreThanTheShare],
  ['38', 409, 'a seat is left', () => joinWaitingList({ capacity: 1, offerHours: 1 })],
  ['39', 409, 'the ticket has no waiting list', () => joinWaitingList({ capacity: 1 })],
  ['34', 404, 'the serial is unknown', () => given.partner.registration('GALA-1001-999999-1234567890')],
  ['34', 404, 'the reference is malformed', () => given.partner.registration("' or 1=1 --")],
  ['34', 404, 'the reference is long', () => given.partner.registration('a'.repeat(101))],
  ['34', 404, 'the reference is as long as can be', () => given.partner.registration('a'.repeat(2_000))],
  ['10', 400, 'the URL is too long', () => given.partner.registration('a'.repeat(2_048))],
  [
    '34',
    404,
    'the digits are wrong',
    () => lookUp(given.partner, (text) => `${text.slice(0, -10)}1234567890`),
  ],
  ['34', 404, 'the prefix is wrong', () => lookUp(given.partner, (text) => text.replace('GALA', 'BALL'))],
  ['34', 404, 'another partner asks', () => lookUp(new PartnerClient(given.api.baseUrl, onePerAttendee))],
  ['40', 422, 'the Idempotency-Key was used with another body', keyWithAnotherBody],
  ['41', 409, 'the first request with the key is in flight', whileTheFirstIsInFlight],
  ['50', 429, 'the partner is above its limit', aboveTheLimit],
  ['60', 404, 'there is no such path', () => given.partner.request('/api/v1/nothing')],
  ['60', 405, 'the method is wrong', () => given.partner.request(REGISTER)],
  ['90', 503, 'Postgres is away', withoutPostgres],
  ['90', 503, 'Postgres takes too long to read', withLockedTable],
  ['91', 503, 'the answer of Postgres is lost', withSwallowedCommit],
  ['99', 500, 'Postgres refuses the row', () => register({ fullName: 'Poison' })],
  ['70', 404, 'a webhook does not exist', () => given.partner.request(`/api/v1/webhooks/${randomUUID()}`)],
  ['71', 409, 'there are ten webhooks already', oneWebhookTooMany],
  ['72', 409, 'the operator has paused the webhook', resumedAgainstTheOperator],
];

async function joinWaitingList(settings: Parameters<Fixture['addTicket']>[0]) {
  const contact = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
  return given.partner.post('/waiting-list', {
    organizedEventTicketID: await given.gala.addTicket(settings),
    contact,
  });
}

/** A share is at least four seats. */
async function holdMoreThanTheShare() {
  const held = attendee(await given.gala.addTicket({ capacity: 5 }));
  for (let seats = 0; seats < 4; seats += 1) await given.partner.register(held, { 'hold-for': '60' });
  return given.partner.register(held, { 'hold-for': '60' });
}

const provoked: { code: ResponseCode; answer: Answer }[] = [];
const textsOf = (code: ResponseCode) =>
  provoked.filter((each) => each.code === code).map(({ answer }) => answer.text);

test.each(PROVOCATIONS)('answers %s (%i) where %s', async (code, status, _when, provoke) => {
  const answer = await provoke();
  provoked.push({ code, answer });
  if (code !== '00') expectFailure(answer, code, status);
  else expect(answer.text).toMatch(SUCCESS);
  expect(answer.status).toBe(status);
});

// In the envelope of one registration of a bulk call: registrations/bulk.test.ts provokes it.
const NEVER_BY_ITSELF = '36 409';

test('every code of the catalogue was provoked with each of its statuses', () => {
  const seen = provoked.map(({ answer }) => `${answer.body.responseCode} ${answer.status}`);
  const catalogue = Object.entries<ResponseCodeEntry>(RESPONSE_CODES).flatMap(([code, { httpStatuses }]) =>
    httpStatuses.map((status) => `${code} ${status}`),
  );
  expect([...new Set(seen), NEVER_BY_ITSELF].toSorted()).toEqual(catalogue.toSorted());
});

test.each(['20', '21'] as const)('answers of code %s do not tell its reasons apart', (code) => {
  // That nothing was sent is no secret.
  const texts = textsOf(code).filter((text) => !text.includes('x-secret-key is missing'));
  expect(texts.length).toBeGreaterThan(1);
  expect(new Set(texts).size).toBe(1);
});

test('a missing x-secret-key is called missing', async () => {
  const answer = await getTickets({ 'x-event-ref': given.gala.eventRef });
  expectFailure(answer, '20', 401);
  expect(answer.body.responseMessage).toBe('x-secret-key is missing');
});

test('every answer has a request id of its own', () => {
  const ids = provoked.map(({ answer }) => answer.headers.get('x-request-id'));
  expect(ids).toHaveLength(PROVOCATIONS.length);
  expect(new Set(ids).size).toBe(ids.length);
});

test('405 names the methods that the route answers', async () => {
  expect((await given.partner.request(REGISTER)).headers.get('allow')).toBe('POST');
  expect((await given.partner.request(TICKETS, { method: 'DELETE' })).headers.get('allow')).toMatch(
    /^GET(, HEAD)?$/,
  );
});

test('an unexpected error is logged under the request id of its answer', async () => {
  const answer = await register({ fullName: 'Poison' });
  expectFailure(answer, '99');
  expect(given.api.log().includes(answer.headers.get('x-request-id')!)).toBe(true);
});
