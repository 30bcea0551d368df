import { expect, test } from 'vitest';
import { drawPassCode } from './pass-code.ts';

test('pass codes have ten digits and are not drawn twice', () => {
  const codes = Array.from({ length: 2_000 }, drawPassCode);
  expect(codes.every((code) => /^[1-9][0-9]{9}$/.test(String(code)))).toBe(true);
  // Two of 2,000 codes out of 9 billion are equal in one run of 4,500.
  expect(new Set(codes).size).toBeGreaterThan(1_997);
  // Every leading digit occurs, so the whole range is used.
  expect(new Set(codes.map((code) => String(code)[0])).size).toBe(9);
});
