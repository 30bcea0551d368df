import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePass, signPass, verifyPass, type PassSubject } from './token.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const KEYS = new Map([[7, publicKey]]);
const OURS = { id: 7, privateKey };

const anyId = fc.integer({ min: 1, max: 2_147_483_647 });
const anySubject = fc.record<PassSubject>({
  eventId: anyId,
  ticketId: anyId,
  serial: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
});

const SUBJECT: PassSubject = { eventId: 1042, ticketId: 3, serial: 317 };
const TOKEN = signPass(SUBJECT, OURS);

test('a token contains the signed fields, in the alphabet of QR codes, and is always the same', () => {
  fc.assert(
    fc.property(anySubject, fc.integer({ min: 1, max: 65_535 }), (subject, keyId) => {
      const key = { id: keyId, privateKey };
      const token = signPass(subject, key);
      expect(token).toMatch(/^[0-9A-Z.]{136}$/);
      expect(signPass(subject, key)).toBe(token);
      expect(parsePass(token)).toEqual({ ...subject, keyId });
      expect(verifyPass(token, new Map([[keyId, publicKey]]))).toEqual({ ...subject, keyId });
    }),
  );
});

test('a token with any other character at any place is refused', () => {
  for (let at = 0; at < TOKEN.length; at += 1)
    for (const character of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ .-v') {
      const altered = TOKEN.slice(0, at) + character + TOKEN.slice(at + 1);
      if (altered !== TOKEN) expect(verifyPass(altered, KEYS), altered).toBeTypeOf('string');
    }
});

test('one token has one form: other lengths, spellings and versions are malformed', () => {
  const spellings = [
    TOKEN.toLowerCase(),
    `${TOKEN}0`,
    TOKEN.slice(0, -1),
    ` ${TOKEN}`,
    `${TOKEN}\n`,
    '',
    'FG2.',
    TOKEN.replace('FG2.', 'FG1.'),
    // The last character holds one bit of the signature; the other four are zero.
    TOKEN.slice(0, -1) + (TOKEN.endsWith('0') ? '1' : 'H'),
  ];
  for (const text of spellings) expect(verifyPass(text, KEYS), text).toBe('malformed');
});

test("another key's signature and an unknown key are different problems", () => {
  expect(verifyPass(signPass(SUBJECT, { ...OURS, privateKey: other.privateKey }), KEYS)).toBe('forged');
  expect(verifyPass(signPass(SUBJECT, { ...OURS, id: 8 }), KEYS)).toBe('unknown-key');
});
