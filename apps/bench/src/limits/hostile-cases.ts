import { randomBytes } from 'node:crypto';
import type { RequestShape } from '@floodgate/rehearsal/load/load';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { attendee, PartnerClient } from '@floodgate/test/harness/partner-client.ts';
import { atLeast, atMost, type Bound } from '../report/results.ts';
import type { Case, OtherLoad } from './beside.ts';

const MEBIBYTE = 1024 * 1024;
/** Single calls per second of the good partner, and its connections. */
const GOOD = { perSecond: 200, connections: 200 };
const CALLERS = 200;
const STRANGERS = 128;
/** So many different values that no cache holds them. */
const INVENTED = 5_000;

/**
 * A case with the load that the hostile partner's fixture sends. Every call of the good partner must get
 * "00".
 */
function hostile(
  name: string,
  targets: Record<string, Bound>,
  loadOf: (fixture: Fixture, baseUrl: string) => OtherLoad | Promise<OtherLoad>,
  mode: 'live' | 'test' = 'live',
): Case {
  return {
    name,
    connections: GOOD.connections,
    targets: { 'answered 00': atLeast(1), ...targets },
    plan: async (db, baseUrl) => ({
      perSecond: GOOD.perSecond,
      other: await loadOf(await createFixture(db, 'allow', mode), baseUrl),
    }),
  };
}

const json = { 'content-type': 'application/json' };
const text = (bytes: number): string => randomBytes(bytes).toString('base64url');

function shapeOf(
  { secretKey, eventRef }: Fixture,
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string> = {},
  body = '',
): RequestShape {
  return { method, path, headers: { 'x-secret-key': secretKey, 'x-event-ref': eventRef, ...headers }, body };
}

const bulk = (fixture: Fixture, body: string, headers: Record<string, string> = {}): RequestShape =>
  shapeOf(fixture, 'POST', '/api/v1/events/register/bulk', headers, body);

/** Returns a bulk call of at most a mebibyte, filled with copies of an item. */
function fullOf(item: string): string {
  const count = Math.floor((MEBIBYTE - 30) / (item.length + 1));
  return `{"registrations":[${Array<string>(count).fill(item).join(',')}]}`;
}

/** A thousand items with only invalid fields. */
const wrongFields = JSON.stringify({
  registrations: Array.from({ length: 1_000 }, () =>
    Object.fromEntries(Object.keys(attendee(1)).map((name) => [name, { not: 'x'.repeat(100) }])),
  ),
});

/** Bodies of bulk calls, by what they are full of. */
const JUNK: Record<string, string> = {
  '1': fullOf('1'),
  '{}': fullOf('{}'),
  '[]': fullOf('[]'),
  '""': fullOf('""'),
  'that looks valid': fullOf(JSON.stringify(attendee(1))),
  'of 1,000 wrong items': wrongFields,
  'nested deeply': `{"registrations":${'['.repeat(MEBIBYTE / 2 - 20)}${']'.repeat(MEBIBYTE / 2 - 20)}}`,
};

const HOLD = '/api/v1/events/holds/0197a3c2-5d1e-7c44-9b1f-0a2b3c4d5e6f';

/** The longest lists of junk that the other bodies with a list can hold, on their routes. */
const JUNK_LISTS: readonly { path: string; list: string; bytes: number }[] = [
  { path: `${HOLD}/confirm`, list: 'attendees', bytes: MEBIBYTE },
  { path: `${HOLD}/release`, list: 'passReferences', bytes: 36 * 1024 },
  { path: '/api/v1/events/holds', list: 'seats', bytes: 36 * 1024 },
  { path: '/api/v1/webhooks', list: 'types', bytes: 36 * 1024 },
];

const junkLists = (fixture: Fixture): RequestShape[] =>
  JUNK_LISTS.map(({ path, list, bytes }) => {
    const items = Array(Math.min(65_000, Math.floor((bytes - 30) / 2))).fill(1);
    return shapeOf(fixture, 'POST', path, json, JSON.stringify({ [list]: items }));
  });

const partners: readonly Case[] = [
  ...Object.entries(JUNK).map(([name, body]) =>
    hostile(`one bulk call a second ${name}`, { 'longest ms': atMost(100) }, (fixture) => ({
      requests: [bulk(fixture, body)],
      connections: 4,
      arrivalsPerSecond: 1,
    })),
  ),
  hostile('four callers of junk', { 'p99 ms': atMost(300) }, (fixture) => ({
    requests: Object.values(JUNK).map((body) => bulk(fixture, body)),
    connections: 4,
  })),
  hostile('1,500 unfinished bulk calls', { 'API memory + MiB': atMost(200) }, (fixture) => ({
    requests: [bulk(fixture, 'x'.repeat(MEBIBYTE - 1), { 'content-length': String(MEBIBYTE) })],
    connections: 1_500,
  })),
  hostile('four callers of junk in the lists of other routes', {}, (fixture) => ({
    requests: junkLists(fixture),
    connections: 4,
  })),
];

/** A case with many requests of strangers, each with other credentials. */
const strangers = (name: string, requestOf: () => RequestShape, connections = STRANGERS): Case =>
  hostile(name, {}, () => ({ requests: Array.from({ length: INVENTED }, requestOf), connections }));

const ENROL = { method: 'POST', path: '/door/v1/enrol' } as const;
const enrolment = JSON.stringify({ code: text(15), publicKey: text(32), signature: text(64), version: '1' });

const unknown: readonly Case[] = [
  strangers('128 strangers with unknown paths', () => ({
    method: 'GET',
    path: `/${text(9)}/${'x'.repeat(12_000)}`,
    headers: {},
  })),
  strangers('128 strangers with invented keys', () => ({
    method: 'GET',
    path: '/api/v1/events/tickets',
    headers: { 'x-secret-key': `fg_${randomBytes(8).toString('hex')}_${text(32)}` },
  })),
  strangers('128 strangers with invented tokens of devices', () => ({
    method: 'GET',
    path: '/door/v1/state?counter=0',
    headers: {
      authorization: `Door fgd_0_1_${text(32)}`,
      'x-door-time': String(Date.now()),
      'x-door-signature': text(64),
    },
  })),
  strangers('500 strangers who enrol a device', () => ({ ...ENROL, headers: json, body: enrolment }), 500),
  strangers(
    '800 strangers with unfinished bodies',
    () => ({ ...ENROL, headers: { ...json, 'content-length': '4096' }, body: 'x'.repeat(4_000) }),
    800,
  ),
];

/** A case of many callers of one route. */
const flood = (name: string, method: 'GET' | 'POST', path: string, mode: 'live' | 'test' = 'live'): Case =>
  hostile(
    name,
    { 'p99 ÷ alone': atMost(5) },
    (fixture) => ({ requests: [shapeOf(fixture, method, path)], connections: CALLERS }),
    mode,
  );

const floods: readonly Case[] = [
  flood('200 callers of reset', 'POST', '/api/v1/events/reset', 'test'),
  flood('200 callers of webhooks', 'GET', '/api/v1/webhooks'),
  hostile('200 callers of PNG passes', { 'p99 ÷ alone': atMost(5) }, async (fixture, baseUrl) => {
    const { body } = await new PartnerClient(baseUrl, fixture).register(attendee(await fixture.addTicket()));
    const path = `/api/v1/events/registrations/${String(body.responseData)}/pass`;
    return { requests: [shapeOf(fixture, 'GET', path, { accept: 'image/png' })], connections: CALLERS };
  }),
];

export const HOSTILE_CASES: readonly Case[] = [...partners, ...unknown, ...floods];
