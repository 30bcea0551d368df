import { generateKeyPairSync, sign } from 'node:crypto';
import { verifyPass, type DoorSettings, type EventDocument, type PassRefusal } from '@floodgate/client';
import { jwkSetOf, signPass } from '@floodgate/passes';
import { expect, test } from 'vitest';

// The door's check alone. Nothing listens here, so it cannot need a network.

const [ours, stolen] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const [EVENT, PARTNER] = [1001, 7];
const now = new Date('2026-12-01T20:00:00Z');
const seconds = (count: number) => new Date(now.getTime() + count * 1_000);

const SUBJECT = { eventId: EVENT, ticketId: 3, serial: 42 };
const passOf = (differing: Partial<typeof SUBJECT> = {}, { privateKey } = ours, id = 1) =>
  signPass({ ...SUBJECT, ...differing }, { id, privateKey });

const CONTENT: EventDocument = {
  event: EVENT,
  eventRef: '01234567-89ab-4cde-8f01-23456789abcd',
  revision: 3,
  name: 'Gala',
  venue: 'Town Hall',
  timeZone: 'Europe/Berlin',
  startsAt: null,
  endsAt: null,
  validFrom: seconds(-60).toISOString(),
  validUntil: seconds(60).toISOString(),
  at: now.toISOString(),
};

const PAGE = {
  event: EVENT,
  partner: PARTNER as number | null,
  after: '0',
  cursor: '5',
  more: false,
  serials: [] as number[],
};

/** A signed document. The header and the key can be another's. */
function jwsOf(typ: string, content: object, header: object, { privateKey } = ours): string {
  const head = { alg: 'EdDSA', kid: '1', typ, ...header };
  const text = [head, content]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}
const pageOf = (differing: Partial<typeof PAGE & { at: string }> = {}, header: object = {}, key = ours) =>
  jwsOf('floodgate-revocations', { ...PAGE, at: now.toISOString(), ...differing }, header, key);
const eventOf = (differing: Partial<EventDocument> = {}, header: object = {}, key = ours) =>
  jwsOf('floodgate-event', { ...CONTENT, ...differing }, header, key);

const settings: DoorSettings = {
  keys: jwkSetOf({ publicKeys: new Map([[1, ours.publicKey]]) }),
  eventId: EVENT,
  partnerId: PARTNER,
  event: eventOf(),
  revocations: [pageOf()],
  now,
};
const check = (pass: string, differing: Partial<DoorSettings> = {}) =>
  verifyPass(pass, { ...settings, ...differing });
const refused = (reason: PassRefusal) => ({ valid: false, reason });

test('a pass that is valid now and not revoked is admitted', () => {
  const { ticketId, serial } = SUBJECT;
  const [validFrom, validUntil] = [seconds(-60), seconds(60)];
  expect(check(passOf())).toEqual({ valid: true, ticketId, serial, validFrom, validUntil, asOf: now });
});

test.each<[string, PassRefusal, Partial<DoorSettings>?]>([
  ['GALA-1001-42-1234567890', 'malformed'],
  [`${passOf()}0`, 'malformed'],
  [passOf({}, ours, 2), 'unknown-key'],
  [passOf({}, stolen), 'forged'],
  [passOf({ eventId: 1002 }), 'other-event'],
  [passOf().replace('FG2.', 'FG1.'), 'malformed'],
  [passOf(), 'not-yet-valid', { event: eventOf({ validFrom: seconds(1).toISOString() }) }],
  [passOf(), 'expired', { event: eventOf({ validUntil: seconds(-1).toISOString() }) }],
  [passOf(), 'revoked', { revocations: [pageOf({ serials: [41, 42] })] }],
])('%s is refused: %s', (pass, reason, differing) => {
  expect(check(pass, differing)).toEqual(refused(reason));
});

test('a pass has no times: it admits by the times of the newest event document', () => {
  const nextWeek = (text: string | null) => new Date(Date.parse(text!) + 7 * 86_400_000).toISOString();
  const { validFrom, validUntil } = CONTENT;
  const moved = eventOf({ validFrom: nextWeek(validFrom), validUntil: nextWeek(validUntil), revision: 4 });
  expect(check(passOf(), { event: moved })).toEqual(refused('not-yet-valid'));
  const [event, at] = [moved, nextWeek(now.toISOString())];
  const then = { event, now: new Date(at), revocations: [pageOf({ at })], maxAgeSeconds: 8 * 86_400 };
  expect(check(passOf(), then)).toMatchObject({ valid: true, asOf: now });
  expect(check(passOf(), { event: eventOf({ validFrom: null, validUntil: null }) })).toMatchObject({
    valid: true,
    validFrom: null,
    validUntil: null,
  });
});

test.each<[string, PassRefusal, string]>([
  ['of another event', 'event-other-event', eventOf({ event: 1002 })],
  ['of another type', 'event-malformed', pageOf()],
  ['with another algorithm', 'event-malformed', eventOf({}, { alg: 'none' })],
  ['that is not a JWS', 'event-malformed', ''],
  ['signed by another key', 'event-forged', eventOf({}, {}, stolen)],
  ['of an unknown key', 'event-unknown-key', eventOf({}, { kid: '2' })],
  ['that is too old', 'event-stale', eventOf({ at: seconds(-3_601).toISOString() })],
  ['from the future', 'event-stale', eventOf({ at: seconds(3_601).toISOString() })],
])('an event document %s is refused: %s', (_, reason, event) => {
  expect(check(passOf(), { event })).toEqual(refused(reason));
});

const [first, second, third] = [
  pageOf({ more: true }),
  pageOf({ after: '5', cursor: '9', more: true, serials: [42] }),
  pageOf({ after: '9', cursor: '9' }),
];

test.each<[string, PassRefusal, string[]]>([
  ['of another event', 'revocations-other-event', [pageOf({ event: 1002 })]],
  ['of another partner', 'revocations-other-partner', [pageOf({ partner: 8 })]],
  ['of all partners in place of one', 'revocations-other-partner', [pageOf({ partner: null })]],
  ['of another type', 'revocations-malformed', [eventOf()]],
  ['without a type', 'revocations-malformed', [pageOf({}, { typ: undefined })]],
  ['with another algorithm', 'revocations-malformed', [pageOf({}, { alg: 'none' })]],
  ['that are no JWS', 'revocations-malformed', ['', 'a.b.c']],
  ['signed by another key', 'revocations-forged', [pageOf({}, {}, stolen)]],
  ['altered after they were signed', 'revocations-forged', [altered(pageOf({ serials: [42] }))]],
  ['of an unknown key', 'revocations-unknown-key', [pageOf({}, { kid: '2' })]],
  ['that are missing altogether', 'revocations-incomplete', []],
  ['without the first', 'revocations-incomplete', [second, third]],
  ['without one in between', 'revocations-incomplete', [first, third]],
  ['without the last', 'revocations-incomplete', [first, second]],
  ['in another order', 'revocations-incomplete', [second, first, third]],
  ['that are too old', 'revocations-stale', [pageOf({ at: seconds(-3_601).toISOString() })]],
  ['from the future', 'revocations-stale', [pageOf({ at: seconds(3_601).toISOString() })]],
])('pages %s are refused: %s', (_, reason, revocations) => {
  expect(check(passOf(), { revocations })).toEqual(refused(reason));
});

test('a complete chain of pages revokes what any of them lists', () => {
  const revocations = [first, second, third];
  expect(check(passOf(), { revocations })).toEqual(refused('revoked'));
  expect(check(passOf({ serial: 43 }), { revocations })).toMatchObject({ valid: true, serial: 43 });
});

test('the age counts for the last page, and can be set', () => {
  const at = seconds(-7_200).toISOString();
  const revocations = [pageOf({ more: true, at }), pageOf({ after: '5', cursor: '5' })];
  expect(check(passOf(), { revocations })).toMatchObject({ valid: true });
  const old = { revocations: [pageOf({ at })] };
  expect(check(passOf(), old)).toEqual(refused('revocations-stale'));
  expect(check(passOf(), { ...old, maxAgeSeconds: 7_200 })).toMatchObject({ valid: true });
});

test("the operator's list is of all partners", () => {
  expect(check(passOf(), { partnerId: null, revocations: [pageOf({ partner: null })] })).toMatchObject({
    valid: true,
  });
});

/** The page without its serials, under the old signature. */
function altered(jws: string): string {
  const [header, payload, signature] = jws.split('.') as [string, string, string];
  const page = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const emptied = Buffer.from(JSON.stringify({ ...page, serials: [] })).toString('base64url');
  return [header, emptied, signature].join('.');
}
