import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { operationsOf, type Document } from '../harness/contract-document.ts';
import { attendee, type Answer } from '../harness/partner-client.ts';
import { exchange, requestText } from '../harness/raw-http.ts';

const { test, given } = apiTest({ sharesEvent: true });

type Envelope = Answer['body'];

let document: Document;

test.beforeAll(async () => {
  const response = await fetch(`${given.api.baseUrl}/api/v1/openapi.json`);
  document = (await response.json()) as typeof document;
});

const operation = (id: string) => operationsOf(document).find(({ operationId }) => operationId === id)!;

/** The envelopes that the document shows for one HTTP status of an operation. */
function examplesOf(id: string, status: number): Envelope[] {
  const { examples } = operation(id).responses[status]!.content['application/json'];
  return Object.values(examples!).map(({ value }) => value) as Envelope[];
}

const codesOf = (id: string) =>
  Object.fromEntries(
    Object.keys(operation(id).responses).map((status) => [
      status,
      examplesOf(id, Number(status)).map(({ responseCode }) => responseCode),
    ]),
  );

test('the OpenAPI document is valid', async () => {
  expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
});

test('each operation lists, by HTTP status, the codes that it may answer, and no other', () => {
  const ofEveryOperation = { 200: ['00'], 401: ['20'], 429: ['50'], 431: ['10'], 500: ['99'], 503: ['90'] };
  expect(codesOf('getTickets')).toEqual({ ...ofEveryOperation, 400: ['10', '12'], 404: ['21'] });
  expect(codesOf('getRegistration')).toEqual({ ...ofEveryOperation, 400: ['10', '12'], 404: ['21', '34'] });
  expect(codesOf('registerForEvent')).toEqual({
    ...ofEveryOperation,
    400: ['10', '12'],
    404: ['21', '30'],
    409: ['31', '32', '33', '37', '41'],
    413: ['10'],
    415: ['10'],
    422: ['11', '40'],
    503: ['90', '91'],
  });
});

test('each operation names the headers that it reads', () => {
  const headersOf = (id: string) => operation(id).parameters.map(({ name, required }) => [name, required]);
  expect(headersOf('registerForEvent')).toEqual([
    ['x-event-ref', true],
    ['idempotency-key', false],
    ['hold-for', false],
    ['x-error-details', false],
  ]);
  expect(headersOf('getTickets')).toEqual([['x-event-ref', true]]);
  expect(headersOf('getRegistration')).toEqual([
    ['passReference', true],
    ['x-event-ref', true],
  ]);
});

test('each answer names the headers that it may carry', () => {
  const headersOf = (status: number) =>
    Object.keys(operation('registerForEvent').responses[status]!.headers).toSorted();
  const known = ['Cache-Control', 'x-request-id'];
  const counted = [...known, 'RateLimit', 'RateLimit-Policy'];
  const wanted = (...names: string[]) => names.toSorted();
  expect(headersOf(200)).toEqual(wanted(...counted, 'Idempotent-Replayed'));
  expect(headersOf(401)).toEqual(wanted(...known));
  expect(headersOf(409)).toEqual(wanted(...counted, 'Idempotent-Replayed', 'Retry-After'));
  expect(headersOf(415)).toEqual(wanted(...counted));
  expect(headersOf(422)).toEqual(wanted(...counted, 'Idempotent-Replayed', 'X-Invalid-Fields'));
  expect(headersOf(429)).toEqual(wanted(...counted, 'Retry-After'));
  expect(headersOf(431)).toEqual(['x-request-id']);
});

test('the example of a registration registers for good', async () => {
  const { requestBody } = operation('registerForEvent');
  const example = requestBody!.content['application/json'].example as object;
  expect(example).toMatchObject({ fullName: 'Jane Doe', emailAddress: 'jane@example.com' });
  const answer = await given.partner.register({
    ...example,
    organizedEventTicketID: await given.gala.addTicket(),
  });
  expect(answer.body.responseCode).toBe('00');
});

test('an example of success has the fields of the real answer, in their order', async () => {
  const { body } = await given.partner.register(attendee(await given.gala.addTicket()));
  const real = {
    registerForEvent: body,
    getTickets: (await given.partner.tickets()).body,
    getRegistration: (await given.partner.registration(body.responseData as string)).body,
  };
  for (const [id, answer] of Object.entries(real))
    expect(shapeOf(examplesOf(id, 200)[0]!.responseData)).toEqual(shapeOf(answer.responseData));
});

const shapeOf = (data: unknown): unknown => {
  const one: unknown = Array.isArray(data) ? data[0] : data;
  return typeof one === 'object' ? Object.keys(one as object) : typeof one;
};

const raw = (headers: Record<string, string>) =>
  exchange(given.api.baseUrl, requestText('GET /api/v1/events/tickets', { host: 'api', ...headers }));
const post = (body: string, type = 'application/json') =>
  given.partner.register(body, { 'content-type': type });
const BULK = '/api/v1/events/register/bulk';
const BIG = { method: 'POST', headers: { 'content-type': 'application/json' } };
const eventRef = '01234567-89ab-4cde-8f01-23456789abcd';

test.for<[string, string, number, () => Promise<Answer>]>([
  ['registerForEvent', '10', 400, () => post('{')],
  ['registerForEvent', '10', 413, () => post(' '.repeat(100_000))],
  [
    'registerInBulk',
    '10',
    413,
    () => given.partner.request(BULK, { ...BIG, body: ' '.repeat(1024 * 1024 + 1) }),
  ],
  ['registerForEvent', '10', 415, () => post('<a/>', 'application/xml')],
  [
    'registerForEvent',
    '11',
    422,
    () => given.partner.register({ ...attendee(1), fullName: '', emailAddress: '' }),
  ],
  [
    'listRegistrations',
    '11',
    422,
    () => given.partner.request(`/api/v1/events/registrations?after=x&limit=1001`),
  ],
  ['getTickets', '10', 400, () => exchange(given.api.baseUrl, 'hello\r\n\r\n')],
  ['getTickets', '10', 431, () => raw({ padding: 'x'.repeat(20_000) })],
  ['getTickets', '12', 400, () => raw({ 'x-secret-key': given.gala.secretKey })],
  ['getTickets', '20', 401, () => raw({ 'x-event-ref': eventRef, 'x-secret-key': 'fg_' })],
  ['getTickets', '21', 404, () => raw({ 'x-event-ref': eventRef, 'x-secret-key': given.gala.secretKey })],
  ['getRegistration', '34', 404, () => given.partner.registration('GALA-1042-317-4829137450')],
])('the example of %s for %s with HTTP %i is what the API answers', async ([id, code, status, provoke]) => {
  const answer = await provoke();
  expect(answer.status).toBe(status);
  expect(examplesOf(id, status).find(({ responseCode }) => responseCode === code)).toEqual(answer.body);
});

test('/ leads to the page, and the page may reach nothing but this server', async () => {
  const root = await fetch(`${given.api.baseUrl}/`, { redirect: 'manual' });
  expect([root.status, new URL(root.headers.get('location')!, given.api.baseUrl).pathname]).toEqual([
    302,
    '/docs',
  ]);
  const page = await fetch(`${given.api.baseUrl}/docs`);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = page.headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|\*/);
});

test("the page's script is sent once to a browser that keeps it", async () => {
  const url = `${given.api.baseUrl}/docs/reference.js`;
  const first = await fetch(url);
  expect(first.headers.get('content-type')).toMatch(/javascript/);
  expect((await first.arrayBuffer()).byteLength).toBeGreaterThan(1_000_000);
  // Said for fetch, which would ask for it anew.
  const headers = { 'if-none-match': first.headers.get('etag')!, 'cache-control': 'max-age=0' };
  const again = await fetch(url, { headers });
  expect(again.status).toBe(304);
});
