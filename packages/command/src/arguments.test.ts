import { describe, expect, test } from 'vitest';
import {
  parseBatchId,
  parseBenefits,
  parseCapacity,
  parseDurationMs,
  parseExpiry,
  parseId,
  parseKeyId,
  parseName,
  parsePrefix,
  parsePrice,
  parseRateLimit,
  parseSaleTime,
  parseTimestamp,
} from './arguments.ts';

const NOW = new Date('2026-11-21T09:00:00Z');

/** Each text with what it is read as; "refused" where it is not. */
function expectReadings(parse: (text: string) => unknown, readings: Record<string, unknown>): void {
  for (const [text, expected] of Object.entries(readings)) {
    if (expected === REFUSED) expect(() => parse(text), text).toThrow();
    else expect(parse(text), text).toEqual(expected);
  }
}
const REFUSED = Symbol('refused');

describe('numbers', () => {
  test('reads ids from 1 to 2147483647 and nothing else', () => {
    expectReadings(parseId, { '1': 1, '2147483647': 2_147_483_647 });
    const wrong = ['', '0', '-1', '1.0', '1e3', '0x10', ' 1', '01', '2147483648', '9'.repeat(400), 'one'];
    expectReadings(parseId, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });

  test('reads a capacity of no seats', () => {
    expectReadings(parseCapacity, { '0': 0, '500': 500, '2147483648': REFUSED, NaN: REFUSED });
  });

  test('reads a rate limit from 1 to 1000000 a second, or none', () => {
    expectReadings(parseRateLimit, { '1': 1, '1000000': 1_000_000, none: 'none' });
    const wrong = ['', '0', '-1', '1.5', '1000001', 'null', 'None', '100/s'];
    expectReadings(parseRateLimit, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });

  test('reads prices with at most two decimals, exactly', () => {
    expectReadings(parsePrice, { '0': 0, '12.5': 12.5, '12.50': 12.5, '9999999999.99': 9_999_999_999.99 });
    const wrong = ['', '-1', '12.505', '10000000000', '12,50', '1e3', '.5', '5.', 'free', 'Infinity'];
    expectReadings(parsePrice, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });
});

describe('texts', () => {
  test('trims names and counts Unicode characters', () => {
    expectReadings(parseName, { ' Gala Night ': 'Gala Night', ['🎟'.repeat(255)]: '🎟'.repeat(255) });
    const wrong = ['', '  ', 'a\nb', 'a\u0000b', '\u001b[31mred', 'x'.repeat(256)];
    expectReadings(parseName, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });

  test('lets benefits be empty', () => {
    expect(parseBenefits('')).toBe('');
  });

  test('reads prefixes as the database has them', () => {
    expectReadings(parsePrefix, { GALA: 'GALA', A1: 'A1', A: REFUSED, gala: REFUSED, '1A': REFUSED });
    expectReadings(parsePrefix, { ABCDEFGHI: REFUSED, 'GA-LA': REFUSED, 'GALA\n': REFUSED });
  });

  test('reads batch ids in either case', () => {
    const id = '0b0b0b0b-1111-4111-8111-abcdefabcdef';
    expectReadings(parseBatchId, { [id]: id, [id.toUpperCase()]: id, [`${id}0`]: REFUSED, x: REFUSED });
  });

  test('does not repeat a secret key that was given in the place of its id', () => {
    expect(parseKeyId('0123456789abcdef')).toBe('0123456789abcdef');
    expect(() => parseKeyId('fg_0123456789abcdef_secret')).toThrow(/^(?!.*secret$).*not a key id/);
    expect(() => parseKeyId('0123456789ABCDEF')).toThrow('a key id is');
  });
});

describe('times', () => {
  test('reads timestamps with an offset', () => {
    expectReadings(parseTimestamp, {
      '2026-11-21T09:00:00Z': NOW,
      '2026-11-21T10:00+01:00': NOW,
      '2026-11-21T09:00:00.123Z': new Date('2026-11-21T09:00:00.123Z'),
      '2028-02-29T00:00:00Z': new Date('2028-02-29T00:00:00Z'),
    });
  });

  test('refuses times without an offset and days that no calendar has', () => {
    const wrong = [
      '2026-11-21',
      '2026-11-21T09:00:00',
      '2026-02-30T00:00:00Z',
      '2026-13-01T00:00:00Z',
      'now',
      '',
    ];
    expectReadings(parseTimestamp, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });

  test('reads "none" as an open edge of a sales window', () => {
    expect(parseSaleTime('none')).toBe('none');
    expect(parseSaleTime('2026-11-21T09:00:00Z')).toEqual(NOW);
  });

  test('reads durations up to ten years', () => {
    expectReadings(parseDurationMs, { '45s': 45_000, '30m': 1_800_000, '12h': 43_200_000, '1d': 86_400_000 });
    expectReadings(parseDurationMs, { '0h': 0, '3650d': 3650 * 86_400_000, '3651d': REFUSED });
    const wrong = ['', '12', 'h', '-1h', '1.5h', '1w', '1H', '1 h', '999999999d'];
    expectReadings(parseDurationMs, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });

  test('reads an expiry as a time or as a duration from now, only in the future, or as never', () => {
    expectReadings((text) => parseExpiry(text, NOW), {
      '12h': new Date('2026-11-21T21:00:00Z'),
      never: 'never',
      '2026-11-22T00:00:00+01:00': new Date('2026-11-21T23:00:00Z'),
      '0h': REFUSED,
      '2026-11-21T09:00:00Z': REFUSED,
      '2020-01-01T00:00:00Z': REFUSED,
    });
  });
});
