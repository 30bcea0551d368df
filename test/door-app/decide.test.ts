import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { signPass } from '@floodgate/passes';
import { describe, expect, test } from 'vitest';
import type {
  Admission,
  EventDocument,
  Gate,
  Known,
  Outcome,
  PublicKey,
} from '../../apps/door/browser/wire.d.ts';

// The rules by which a device decides offline. They are JavaScript, because the browser runs them.

type Decide = (
  pass: string,
  direction: 'in' | 'out',
  known: Known,
) => Promise<Pick<Outcome, 'outcome' | 'first'> & { reason?: string }>;
type ReadDocument = (jws: string, type: 'event' | 'revocations', keys: PublicKey[]) => Promise<EventDocument>;

const browser = new URL('../../apps/door/browser/', import.meta.url);
const { decide } = (await import(new URL('decide.js', browser).href)) as { decide: Decide };
const { readDocument, serialOf } = (await import(new URL('signed.js', browser).href)) as {
  readDocument: ReadDocument;
  serialOf(pass: string): number | null;
};

const { choosePass, spelled } = (await import(new URL('typed.js', browser).href)) as {
  choosePass(texts: string[]): string | undefined;
  spelled(text: string): string;
};

const [ours, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const publicKey = (kid: string, key: KeyObject): PublicKey => ({ kid, x: key.export({ format: 'jwk' }).x! });
const KEYS = [publicKey('7', ours.publicKey)];
const OURS = { id: 7, privateKey: ours.privateKey };
const SUBJECT = { eventId: 42, ticketId: 3, serial: 317 };
const PASS = signPass(SUBJECT, OURS);
const NOON = '2026-11-26T12:00:00.000Z';
const at = (hours: number) => new Date(Date.parse(NOON) + hours * 3_600_000).toISOString();
const FIRST: Admission = { at: at(-1), gate: 'North', isInside: true };

const EVENT: EventDocument = { event: 42, name: 'Gala', timeZone: null, validFrom: null, validUntil: null };
const GATE: Gate = {
  gateID: 1,
  name: 'Main entrance',
  area: 'main',
  tickets: null,
  opensAt: null,
  closesAt: null,
  entryRule: 'once',
  showsNames: false,
  admitted: 0,
  inside: 0,
};
interface Situation {
  gate?: Partial<Gate>;
  event?: Partial<EventDocument>;
  keys?: PublicKey[];
  revoked?: number[];
  admission?: Admission;
  direction?: 'in' | 'out';
}
const decided = (pass: string, situation: Situation = {}) => {
  const { gate, event, keys = KEYS, revoked = [], admission, direction = 'in' } = situation;
  return decide(pass, direction, {
    keys,
    event: { ...EVENT, ...event },
    gate: { ...GATE, ...gate },
    deviceName: 'Scanner',
    nowMs: Date.parse(NOON),
    isRevoked: (serial) => Promise.resolve(revoked.includes(serial)),
    admissionOf: (serial) => Promise.resolve(serial === SUBJECT.serial ? admission : undefined),
  });
};
const outcomeOf = async (pass: string, situation?: Situation) => (await decided(pass, situation)).outcome;

test('a valid pass is admitted', async () => {
  expect(await decided(PASS)).toEqual({ outcome: 'admitted', first: null });
});

test('a pass with any other character is refused', async () => {
  for (let index = 0; index < PASS.length; index += 1) {
    const character = PASS[index] === '1' ? '2' : '1';
    const altered = PASS.slice(0, index) + character + PASS.slice(index + 1);
    expect(['unknown', 'invalid-signature', 'revoked'], altered).toContain(await outcomeOf(altered));
  }
});

test('a text that is no pass is unknown, and so are a pass reference and a pass of another event', async () => {
  const texts = ['', 'https://example.com', PASS.toLowerCase(), `${PASS}0`, 'GALA-42-317-1234567890'];
  const elsewhere = signPass({ ...SUBJECT, eventId: 43 }, OURS);
  for (const text of [...texts, elsewhere]) expect(await outcomeOf(text), text).toBe('unknown');
});

test('it says why a reference and a pass of another event are unknown', async () => {
  const reasons = {
    'GALA-42-317-1234567890': 'reference',
    'GALA-43-317-1234567890': 'other-event',
    [signPass({ ...SUBJECT, eventId: 43 }, OURS)]: 'other-event',
    'https://example.com': undefined,
  };
  for (const [text, reason] of Object.entries(reasons))
    expect((await decided(text)).reason, text).toBe(reason);
});

describe('the spelling of', () => {
  const REFERENCE = 'GALA-42-317-1234567890';
  test.for([
    'gala-42-317-1234567890',
    ' GALA – 42 – 317 – 1234567890 ',
    'GALA\u221242\u2011317\u20141234567890',
    'ＧＡＬＡ－４２－３１７－１２３４５６７８９０',
    'GALA-٤٢-٣١٧-١٢٣٤٥٦٧٨٩٠',
    'gala-४२-३१७-१२३४५६७८९०',
    '\u200eGALA-42-317-1234567890\u200f',
  ])('the reference %s does not matter', (text) => {
    expect(spelled(text)).toBe(REFERENCE);
  });

  test('a pass does not matter, and other texts stay as they are', () => {
    for (const text of [PASS.toLowerCase(), ` ${PASS}\u00a0`, `]Q1${PASS}`]) expect(spelled(text)).toBe(PASS);
    for (const text of ['https://example.com/a b', '4-2', `${PASS}0`]) expect(spelled(text)).toBe(text);
  });

  test('of several codes, the one that looks like a pass is chosen', () => {
    expect(choosePass(['https://example.com', PASS.toLowerCase(), REFERENCE])).toBe(PASS);
    expect(choosePass(['https://example.com', 'WIFI:S:net;;'])).toBe('https://example.com');
  });
});

test('a pass that another key signed is forged; without its key it is withdrawn', async () => {
  const forged = signPass(SUBJECT, { ...OURS, privateKey: other.privateKey });
  expect(await outcomeOf(forged)).toBe('invalid-signature');
  expect(await outcomeOf(PASS, { keys: [publicKey('8', ours.publicKey)] })).toBe('revoked');
});

test('a cancelled registration is refused before the ticket and the time are checked', async () => {
  expect(await outcomeOf(PASS, { revoked: [317], gate: { tickets: [4], opensAt: at(1) } })).toBe('cancelled');
  expect(await outcomeOf(PASS, { revoked: [318] })).toBe('admitted');
});

test('a gate admits its tickets only', async () => {
  expect(await outcomeOf(PASS, { gate: { tickets: [4], opensAt: at(1) } })).toBe('wrong-gate');
  expect(await outcomeOf(PASS, { gate: { tickets: [4, 3] } })).toBe('admitted');
});

test.for<[outcome: string, gate: Partial<Gate>, event: Partial<EventDocument>]>([
  ['too-early', { opensAt: at(1) }, {}],
  ['too-early', {}, { validFrom: at(1) }],
  ['admitted', { opensAt: NOON }, { validFrom: NOON }],
  ['too-late', { closesAt: at(-1) }, {}],
  ['too-late', {}, { validUntil: at(-1) }],
  ['too-late', { closesAt: NOON }, {}],
  ['admitted', { closesAt: at(1) }, { validUntil: at(1) }],
])('%s: a gate %j of an event %j at noon', async ([outcome, gate, event]) => {
  expect(await outcomeOf(PASS, { gate, event })).toBe(outcome);
});

test('a pass that this device admitted is refused, with the time and the gate', async () => {
  expect(await decided(PASS, { admission: FIRST })).toEqual({
    outcome: 'already-admitted',
    first: { at: FIRST.at, gate: 'North', device: 'Scanner' },
  });
});

test.for<[rule: Gate['entryRule'], isInside: boolean, outcome: string]>([
  ['once', true, 'already-admitted'],
  ['once', false, 'already-admitted'],
  ['re-entry', true, 'already-admitted'],
  ['re-entry', false, 'admitted'],
  ['any', true, 'admitted'],
])('rule %s, inside %s: %s', async ([entryRule, isInside, outcome]) => {
  expect(await outcomeOf(PASS, { gate: { entryRule }, admission: { ...FIRST, isInside } })).toBe(outcome);
});

test('an exit is always an exit', async () => {
  for (const pass of [PASS, 'GALA-42-317-1234567890'])
    expect(await outcomeOf(pass, { direction: 'out', revoked: [317] })).toBe('exited');
});

test('the serial of a pass and of its reference are the same', () => {
  expect([PASS, 'GALA-42-317-1234567890', 'nothing'].map(serialOf)).toEqual([317, 317, null]);
});

test('a document is genuine only with its type and its signature', async () => {
  const signed = (key: KeyObject) => {
    const parts = [{ alg: 'EdDSA', kid: '7', typ: 'floodgate-event' }, EVENT];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  };
  const [jws, forged] = [signed(ours.privateKey), signed(other.privateKey)];
  expect(await readDocument(jws, 'event', KEYS)).toEqual(EVENT);
  await expect(readDocument(forged, 'event', KEYS)).rejects.toThrow('not genuine');
  await expect(readDocument(jws, 'revocations', KEYS)).rejects.toThrow('not genuine');
});
