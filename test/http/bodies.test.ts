import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { attendee } from '../harness/partner-client.ts';
import { exchange, requestText } from '../harness/raw-http.ts';

const { test, given } = apiTest({ sharesEvent: true });

test.override('ticket', {});

const registration = () => Buffer.from(JSON.stringify(attendee(given.ticketId)));

const post = (body: Buffer, headers: Record<string, string> = {}) =>
  given.partner.request('/api/v1/events/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

const utf16 = (mark: string) => Buffer.from(mark + registration().toString(), 'utf16le');

test.each([
  ['a gzip body', 'compressed', () => post(gzipSync(registration()), { 'content-encoding': 'gzip' })],
  ['a br body', 'compressed', () => post(brotliCompressSync(registration()), { 'content-encoding': 'br' })],
  ['plain JSON that says gzip', 'compressed', () => post(registration(), { 'content-encoding': 'gzip' })],
  ['UTF-16 with its mark', 'UTF-8', () => post(utf16('\ufeff'))],
  ['UTF-16 of the other order with its mark', 'UTF-8', () => post(utf16('\ufeff').swap16())],
  ['UTF-16 without a mark', 'UTF-8', () => post(utf16(''))],
  ['UTF-16 of the other order without a mark', 'UTF-8', () => post(utf16('').swap16())],
  ['plain JSON that says UTF-16', 'UTF-8', () => post(registration(), typeOf('utf-16'))],
  ['plain JSON that says UTF-16 in quotes', 'UTF-8', () => post(registration(), typeOf('"UTF-16LE"'))],
])('%s is answered 415, saying why', async (_what, why, send) => {
  const answer = await send();
  expectFailure(answer, '10', 415);
  expect(answer.body.responseMessage).toMatch(new RegExp(`^The body must .*${why}`));
});

const typeOf = (charset: string) => ({ 'content-type': `application/json; charset=${charset}` });

test.each([
  ['identity', () => post(registration(), { 'content-encoding': 'identity' })],
  ['charset=utf-8', () => post(registration(), typeOf('utf-8'))],
  [
    'a byte order mark of UTF-8',
    () => post(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), registration()])),
  ],
])('a body with %s is read', async (_what, send) => {
  expect((await send()).body.responseCode).toBe('00');
});

test('the longest valid registration is accepted in its longest spelling', async () => {
  const longest = attendee(given.ticketId, {
    fullName: '😀'.repeat(255),
    gender: '😀'.repeat(32),
    tableOrSeat: '😀'.repeat(64),
    extraData1: '😀'.repeat(1_000),
    extraData2: '😀'.repeat(1_000),
  });
  const escaped = JSON.stringify(longest).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
  );
  expect(escaped.length).toBeGreaterThan(28_000);
  expect((await given.partner.register(escaped)).body.responseCode).toBe('00');
});

test('a body above the limit is told the limit', async () => {
  const answer = await given.partner.register(attendee(given.ticketId, { unknown: 'x'.repeat(36 * 1024) }));
  expectFailure(answer, '10', 413);
  expect(answer.body.responseMessage).toBe('The body is larger than 36 KiB');
});

test.each(['/docs/static/%2e%2e/', '/docs/static/%2e%2e/%2e%2e/package.json', '/docs/static/nothing'])(
  'GET %s, which has no body, is not told of one',
  async (path) => {
    const answer = await exchange(given.api.baseUrl, requestText(`GET ${path}`, { host: 'api' }));
    expect([400, 404]).toContain(answer.status);
    expectFailure(answer, answer.status === 404 ? '60' : '10', answer.status);
    expect(answer.body.responseMessage).not.toMatch(/body|JSON/);
  },
);
