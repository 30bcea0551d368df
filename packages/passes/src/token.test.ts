import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePass, signPass, verifyPass, type Pass } from './token.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const KEYS = new Map([[7, publicKey]]);

const anyId = fc.integer({ min: 1, max: 2_147_483_647 });
const anySecond = fc.integer({ min: 1, max: 0xffff_ffff }).map((seconds) => new Date(seconds * 1_000));
const anyPass = fc.record<Pass>({
  keyId: fc.integer({ min: 1, max: 65_535 }),
  eventId: anyId,
  ticketId: anyId,
  serial: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  validFrom: fc.option(anySecond),
  validUntil: fc.option(anySecond),
});

const PASS: Pass = { keyId: 7, eventId: 1042, ticketId: 3, serial: 317, validFrom: null, validUntil: null };
const TOKEN = signPass(PASS, privateKey);

test('what was signed is read again, in the alphabet of QR codes and always in the same words', () => {
  fc.assert(
    fc.property(anyPass, (pass) => {
      const token = signPass(pass, privateKey);
      expect(token).toMatch(/^[0-9A-Z.]{148}$/);
      expect(signPass(pass, privateKey)).toBe(token);
      expect(parsePass(token)).toEqual(pass);
      const within = pass.validFrom ?? pass.validUntil ?? new Date();
      if (pass.validUntil && within > pass.validUntil) return;
      expect(verifyPass(token, new Map([[pass.keyId, publicKey]]), within)).toEqual(pass);
    }),
  );
});

test('every other character in every place is refused', () => {
  for (let at = 0; at < TOKEN.length; at += 1)
    for (const character of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ .-v') {
      const altered = TOKEN.slice(0, at) + character + TOKEN.slice(at + 1);
      if (altered !== TOKEN) expect(verifyPass(altered, KEYS), altered).toBeTypeOf('string');
    }
});

test('one token has one form: other lengths and other spellings are malformed', () => {
  const spellings = [
    TOKEN.toLowerCase(),
    `${TOKEN}0`,
    TOKEN.slice(0, -1),
    ` ${TOKEN}`,
    `${TOKEN}\n`,
    '',
    'FG1.',
  ];
  for (const text of spellings) expect(verifyPass(text, KEYS), text).toBe('malformed');
});

test("another key's signature, and a key that nobody knows, are told apart", () => {
  expect(verifyPass(signPass(PASS, other.privateKey), KEYS)).toBe('forged');
  expect(verifyPass(signPass({ ...PASS, keyId: 8 }, privateKey), KEYS)).toBe('unknown-key');
});

test('a pass is valid from the first to the last of its moments', () => {
  const [validFrom, validUntil] = [new Date('2026-12-01T18:00:00Z'), new Date('2026-12-02T02:00:00Z')];
  const pass = { ...PASS, validFrom, validUntil };
  const token = signPass(pass, privateKey);
  const at = (moment: number) => verifyPass(token, KEYS, new Date(moment));
  expect(at(validFrom.getTime() - 1)).toBe('not-yet-valid');
  expect(at(validFrom.getTime())).toEqual(pass);
  expect(at(validUntil.getTime())).toEqual(pass);
  expect(at(validUntil.getTime() + 1)).toBe('expired');
});

test('fractions of a second make a pass valid for longer, never for shorter', () => {
  const moment = new Date('2026-12-01T18:00:00.500Z');
  expect(parsePass(signPass({ ...PASS, validFrom: moment, validUntil: moment }, privateKey))).toMatchObject({
    validFrom: new Date('2026-12-01T18:00:00Z'),
    validUntil: new Date('2026-12-01T18:00:01Z'),
  });
});
