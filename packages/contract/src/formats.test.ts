import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPassReference, parsePassReference } from './formats.ts';

const characters = (of: string, lengths: { minLength: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(...of.split('')), ...lengths });

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const anyPrefix = fc
  .tuple(
    fc.constantFrom(...LETTERS.split('')),
    characters(`${LETTERS}0123456789`, { minLength: 1, maxLength: 7 }),
  )
  .map((parts) => parts.join(''));

const anyParts = fc.record({
  prefix: anyPrefix,
  eventId: fc.integer({ min: 1, max: 2_147_483_647 }),
  serial: fc.integer({ min: 1, max: 999_999_999_999_999 }),
  passCode: fc.integer({ min: 1_000_000_000, max: 9_999_999_999 }),
});

test('the form is prefix, event, serial and code', () => {
  const parts = { prefix: 'GALA', eventId: 1042, serial: 317, passCode: 4_829_137_450 };
  expect(formatPassReference(parts)).toBe('GALA-1042-317-4829137450');
});

test('a formatted reference is parsed to the same parts', () => {
  fc.assert(
    fc.property(anyParts, (parts) => {
      expect(parsePassReference(formatPassReference(parts))).toEqual(parts);
    }),
  );
});

test('one reference has one form: a text that parses is equal to the format of its parts', () => {
  const nearly = fc
    .tuple(anyParts, fc.nat(40), fc.constantFrom('', '-', '0', 'A', 'a', ' ', '\n', '٣', '\0'))
    .map(([parts, at, noise]) => {
      const text = formatPassReference(parts);
      return text.slice(0, at) + noise + text.slice(at + 1);
    });
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string()), (text) => {
      const parts = parsePassReference(text);
      if (parts) expect(formatPassReference(parts)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test.for([
  '',
  'GALA-1042-317',
  'GALA-1042-317-482913745',
  'GALA-1042-317-48291374500',
  'GALA-1042-0-4829137450',
  'GALA-0-317-4829137450',
  'GALA-01042-317-4829137450',
  'GALA-1042-0317-4829137450',
  'G-1042-317-4829137450',
  'TOOLONGPREFIX-1042-317-4829137450',
  '1GALA-1042-317-4829137450',
  'gala-1042-317-4829137450',
  ' GALA-1042-317-4829137450',
  'GALA-1042-317-4829137450\n',
  'GALA-1042-9999999999999999-4829137450',
  'GALA-2147483648-317-4829137450',
  'GALA-9999999999-317-4829137450',
])('%o is not a pass reference', (text) => {
  expect(parsePassReference(text)).toBeNull();
});

test('no number of a reference that parses loses digits', () => {
  const largest = 'ABCDEFGH-2147483647-999999999999999-9999999999';
  expect(formatPassReference(parsePassReference(largest)!)).toBe(largest);
});
