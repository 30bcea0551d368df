import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  parseDurationMs,
  parseExpiry,
  parseId,
  parsePrice,
  parseWholeOrNone,
  parseTimeOrNone,
  parseSince,
  parseText,
  parseTimestamp,
  parseWhole,
} from './arguments.ts';

const NOW = new Date('2026-11-21T09:00:00Z');

/** Expects the value of each text, or an error for "refused". */
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

  test('reads whole numbers, including 0', () => {
    expectReadings(parseWhole, { '0': 0, '500': 500, '2147483648': REFUSED, NaN: REFUSED });
  });

  test('reads a rate limit or "none"', () => {
    expectReadings(parseWholeOrNone, { '1': 1, '1000000': 1_000_000, none: 'none' });
    const wrong = ['', '-1', '1.5', 'null', 'None', '100/s'];
    expectReadings(parseWholeOrNone, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });

  test('reads prices exactly', () => {
    expectReadings(parsePrice, { '0': 0, '12.5': 12.5, '12.50': 12.5, '9999999999.99': 9_999_999_999.99 });
    const wrong = ['', '-1', '12,50', '1e3', '.5', '5.', 'free', 'Infinity'];
    expectReadings(parsePrice, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });
});

test('removes spaces around a text', () => {
  expectReadings(parseText, { ' Gala Night ': 'Gala Night', '': '' });
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

  test('refuses times without an offset and days that do not exist', () => {
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

  test('reads "none" for a sales window without a start or an end', () => {
    expect(parseTimeOrNone('none')).toBe('none');
    expect(parseTimeOrNone('2026-11-21T09:00:00Z')).toEqual(NOW);
  });

  test('reads durations up to ten years', () => {
    expectReadings(parseDurationMs, { '45s': 45_000, '30m': 1_800_000, '12h': 43_200_000, '1d': 86_400_000 });
    expectReadings(parseDurationMs, { '0h': 0, '3650d': 3650 * 86_400_000, '3651d': REFUSED });
    const wrong = ['', '12', 'h', '-1h', '1.5h', '1w', '1H', '1 h', '999999999d'];
    expectReadings(parseDurationMs, Object.fromEntries(wrong.map((text) => [text, REFUSED])));
  });

  test('reads an expiry as a time, as a duration from now, or as never', () => {
    vi.useFakeTimers({ now: NOW });
    onTestFinished(() => void vi.useRealTimers());
    expectReadings(parseExpiry, {
      '12h': new Date('2026-11-21T21:00:00Z'),
      never: 'none',
      '2026-11-22T00:00:00+01:00': new Date('2026-11-21T23:00:00Z'),
      '4000d': REFUSED,
      tomorrow: REFUSED,
    });
  });

  test('reads a past time as a time or as a duration before now', () => {
    expect(parseSince('2026-11-21T09:00:00Z')).toEqual(NOW);
    const halfADayAgo = new Date(Date.now() - 43_200_000);
    const parsed = parseSince('12h');
    expect(+parsed - +halfADayAgo).toBeGreaterThanOrEqual(0);
  });
});
