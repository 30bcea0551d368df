import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { attendee } from '../harness/partner-client.ts';

const { test, given } = apiTest({
  sharesEvent: true,
  own: 'names an offset that its journal has not reached',
});

test.override('ticket', {});

const ASKED = { 'x-error-details': 'json' };
const SENT = 'secret\u{1f600}value';

interface Asked {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Returns the code, and what X-Invalid-Fields lists as `field rule`; undefined without the header. */
async function ask(path: string, { method = 'POST', body, headers = ASKED }: Asked) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await given.partner.request(`/api/v1/${path}`, {
    method,
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const header = answer.headers.get('x-invalid-fields');
  expect(header ?? '').not.toContain('secret');
  const fields = header === null ? undefined : (JSON.parse(header) as { field: string; rule: string }[]);
  const { responseCode: code, ...rest } = answer.body;
  expect(Object.keys(rest)).toEqual(['responseMessage', 'responseData']);
  return { code, header, fields: fields?.map(({ field, rule }) => `${field} ${rule}`) };
}

test.for<[string, string, Asked, string[]]>([
  [
    'a missing field',
    'events/register',
    { body: {} },
    ['fullName required', 'emailAddress required', 'organizedEventTicketID required'],
  ],
  [
    'a field of the wrong type',
    'events/register',
    { body: { ...attendee(1), emailAddress: 7 } },
    ['emailAddress type'],
  ],
  [
    'a long field',
    'events/register',
    { body: { ...attendee(1), gender: SENT.repeat(9) } },
    ['gender maxLength'],
  ],
  ['an empty field', 'events/register', { body: { ...attendee(1), fullName: ' ' } }, ['fullName minLength']],
  [
    'a malformed field',
    'events/register',
    { body: { ...attendee(1), emailAddress: SENT } },
    ['emailAddress format'],
  ],
  [
    'a number that is too small',
    'events/register',
    { body: attendee(0) },
    ['organizedEventTicketID minimum'],
  ],
  ['a body that is no object', 'events/register', { body: [SENT] }, [' type']],
  [
    'a header',
    'events/register',
    { body: { ...attendee(1), gender: 7 }, headers: { ...ASKED, 'hold-for': '5' } },
    ['gender type', 'header/hold-for pattern'],
  ],
  ['a query parameter', 'events/registrations?limit=0', { method: 'GET' }, ['limit pattern']],
  [
    'a cursor that does not exist yet',
    'events/registrations?after=999',
    { method: 'GET' },
    ['after cursor-ahead'],
  ],
  [
    'a media type',
    'events/registrations/X-1-1-1234567890/pass',
    { method: 'GET', headers: { ...ASKED, accept: 'text/css' } },
    ['header/accept enum'],
  ],
  ['the URL of a webhook', 'webhooks', { body: { url: `http://secret.example` } }, ['url format']],
  ['a list that is missing', 'events/register/bulk', { body: {} }, ['registrations required']],
  ['a mode', 'events/register/bulk', { body: { registrations: [attendee(1)], mode: SENT } }, ['mode enum']],
])('on request %s is listed with the rule that it breaks', async ([, path, asked, wanted]) => {
  const { code, fields } = await ask(path, asked);
  expect([code, fields?.toSorted()]).toEqual(['11', wanted.toSorted()]);
});

test('the fields of a bulk call are listed with their place, beside "00"', async () => {
  const registrations = [
    attendee(given.ticketId),
    { ...attendee(given.ticketId), emailAddress: SENT },
    7,
    {},
  ];
  const { code, fields } = await ask('events/register/bulk', { body: { registrations } });
  expect([code, fields]).toEqual([
    '00',
    [
      'registrations/1/emailAddress format',
      'registrations/2 type',
      'registrations/3/fullName required',
      'registrations/3/emailAddress required',
      'registrations/3/organizedEventTicketID required',
    ],
  ]);
});

test('nothing is listed where nobody asked, or where nothing is wrong', async () => {
  for (const headers of [{}, { 'x-error-details': 'xml' }])
    expect(await ask('events/register', { body: {}, headers })).toMatchObject({ code: '11', header: null });
  expect(await ask('events/register', { body: attendee(given.ticketId) })).toMatchObject({
    code: '00',
    header: null,
  });
  expect(await ask('events/register', { body: attendee(2_000_000) })).toMatchObject({
    code: '30',
    header: null,
  });
});

test('of many fields the first are listed, in ASCII and 4 KiB', async () => {
  const registrations = Array.from({ length: 1_000 }, () => ({ emailAddress: SENT }));
  const { header, fields } = await ask('events/register/bulk', { body: { registrations } });
  expect(header).toMatch(/^[\x20-\x7e]{1000,4096}$/);
  expect(fields!.length).toBeLessThanOrEqual(50);
  expect(fields![0]).toMatch(/^registrations\/0\//);
});
