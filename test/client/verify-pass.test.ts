import { generateKeyPairSync, sign } from 'node:crypto';
import { verifyPass, type DoorSettings, type PassRefusal } from '@floodgate/client';
import { jwkSetOf, signPass } from '@floodgate/passes';
import { expect, test } from 'vitest';

// The door's check alone. Nothing listens here, so it cannot need a network.

const [ours, stolen] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const [EVENT, PARTNER] = [1001, 7];
const now = new Date('2026-12-01T20:00:00Z');
const seconds = (count: number) => new Date(now.getTime() + count * 1_000);

const FIELDS = {
  keyId: 1,
  eventId: EVENT,
  ticketId: 3,
  serial: 42,
  validFrom: seconds(-60),
  validUntil: seconds(60),
};
const passOf = (differing: Partial<typeof FIELDS> = {}, { privateKey } = ours) =>
  signPass({ ...FIELDS, ...differing }, privateKey);

const PAGE = {
  event: EVENT,
  partner: PARTNER as number | null,
  after: '0',
  cursor: '5',
  more: false,
  serials: [] as number[],
};

/** A signed page. The header and the key can be another's. */
function pageOf(
  differing: Partial<typeof PAGE & { at: string }> = {},
  header: object = {},
  { privateKey } = ours,
): string {
  const head = { alg: 'EdDSA', kid: '1', typ: 'floodgate-revocations', ...header };
  const text = [head, { ...PAGE, at: now.toISOString(), ...differing }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}

const settings: DoorSettings = {
  keys: jwkSetOf({ publicKeys: new Map([[1, ours.publicKey]]) }),
  eventId: EVENT,
  partnerId: PARTNER,
  revocations: [pageOf()],
  now,
};
const check = (pass: string, differing: Partial<DoorSettings> = {}) =>
  verifyPass(pass, { ...settings, ...differing });
const refused = (reason: PassRefusal) => ({ valid: false, reason });

test('a pass that is valid now and not revoked is admitted', () => {
  const { ticketId, serial, validFrom, validUntil } = FIELDS;
  expect(check(passOf())).toEqual({ valid: true, ticketId, serial, validFrom, validUntil });
});

test.each<[string, PassRefusal, Partial<DoorSettings>?]>([
  ['GALA-1001-42-1234567890', 'malformed'],
  [`${passOf()}0`, 'malformed'],
  [passOf({ keyId: 2 }), 'unknown-key'],
  [passOf({}, stolen), 'forged'],
  [passOf({ eventId: 1002 }), 'other-event'],
  [passOf({ validFrom: seconds(1) }), 'not-yet-valid'],
  [passOf({ validUntil: seconds(-1) }), 'expired'],
  [passOf(), 'revoked', { revocations: [pageOf({ serials: [41, 42] })] }],
])('%s is refused: %s', (pass, reason, differing) => {
  expect(check(pass, differing)).toEqual(refused(reason));
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
  ['of another type', 'revocations-malformed', [pageOf({}, { typ: 'JWT' })]],
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
