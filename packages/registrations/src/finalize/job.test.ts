import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { speaksOf } from './job.ts';

test('a failed job is obsolete when one of its batches is redriven', () => {
  const [a, b] = [randomUUID(), randomUUID()];
  expect(speaksOf({ batchIds: [a] }, new Set([a, b]))).toBe(true);
  expect(speaksOf({ batchIds: [a, b] }, new Set([a]))).toBe(true);
  expect(speaksOf({ batchIds: [a] }, new Set([b]))).toBe(false);
  expect(speaksOf({ batchId: a }, new Set([a]))).toBe(false);
});
