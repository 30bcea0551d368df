import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasMoreValues } from './read-requests.ts';

/** Returns the number of values in a parsed JSON text. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + countOf(inner), 1);
}

test('a body is refused if and only if it has more values, except for empty containers', () => {
  const values = fc.jsonValue({ maxDepth: 4 }).filter((value) => !/\[\]|\{\}/.test(JSON.stringify(value)));
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 20 }), (value, most) => {
      const padded = JSON.stringify(value) + ' '.repeat(2 * most);
      expect(hasMoreValues(Buffer.from(padded), most)).toBe(countOf(value) > most);
    }),
  );
});

test.each(['1', '{}', '[]', '""', '"\\""', '[[', '{"a":1}'])('a long list of %s has too many', (item) => {
  const list = Buffer.from(`[${`${item},`.repeat(40_000)}1]`);
  expect(hasMoreValues(list, 30_000)).toBe(true);
});

test('commas and brackets in strings do not count, whatever is escaped', () => {
  const list = JSON.stringify(Array.from({ length: 100 }, () => String.raw`,[{"\",[{`.repeat(10)));
  expect(hasMoreValues(Buffer.from(list), 101)).toBe(false);
  expect(hasMoreValues(Buffer.from(list), 100)).toBe(true);
});
