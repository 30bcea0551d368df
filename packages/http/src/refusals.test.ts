import { expect, test } from 'vitest';
import { RecentRefusals } from './refusals.ts';

const MINUTE_MS = 60_000;

test('refusals are counted by partner and code for an hour', () => {
  let now = 0;
  const recent = new RecentRefusals(() => now);
  recent.count(7, '32');
  recent.count(7, '32');
  recent.count(8, '50');
  expect(recent.read()).toEqual({ 7: { 32: 2 }, 8: { 50: 1 } });
  now = 30 * MINUTE_MS;
  recent.read();
  recent.count(7, '33');
  now = 58 * MINUTE_MS;
  expect(recent.read()).toEqual({ 7: { 32: 2, 33: 1 }, 8: { 50: 1 } });
  now = 61 * MINUTE_MS;
  expect(recent.read()).toEqual({ 7: { 33: 1 } });
  now = 10 * 60 * MINUTE_MS;
  expect(recent.read()).toEqual({});
});

test('the partners with the most refusals are reported, and no more than 500', () => {
  const recent = new RecentRefusals(() => 0);
  for (let partnerId = 1; partnerId <= 600; partnerId++) recent.count(partnerId, '31');
  recent.count(600, '32');
  const counts = recent.read();
  expect(Object.keys(counts)).toHaveLength(500);
  expect(counts[600]).toEqual({ 31: 1, 32: 1 });
});
