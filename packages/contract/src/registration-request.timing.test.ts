import { expect, test } from 'vitest';
import { isEmailAddress } from './index.ts';

function timeOf(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

test('the time to reject a hostile address grows in proportion to its length, at most', () => {
  const reject = (length: number) => () => expect(isEmailAddress(`${'a.'.repeat(length)}@`)).toBe(false);
  timeOf(reject(500_000));
  const reference = timeOf(reject(500_000));
  // Ten times as long. With a quadratic pattern it would take a hundred times as long.
  expect(timeOf(reject(5_000_000))).toBeLessThan(30 * Math.max(reference, 1));
});
