import { expect, test } from 'vitest';
import { mustDisable, readRetryAfterMs, retryDelayMs } from './retry-schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('attempts follow the schedule, and then repeat once a day', () => {
  const delays = Array.from({ length: 12 }, (_, failures) => retryDelayMs(failures, 0));
  const day = 24 * HOUR;
  expect(delays).toEqual([
    5_000,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    day,
    day,
    day,
    day,
  ]);
  expect(retryDelayMs(0, 1)).toBe(6_000);
});

test('an endpoint is disabled after five days of failures', () => {
  const now = Date.parse('2026-11-21T09:00:00Z');
  expect(mustDisable(null, now)).toBe(false);
  expect(mustDisable(new Date(now - 5 * 24 * HOUR + 1), now)).toBe(false);
  expect(mustDisable(new Date(now - 5 * 24 * HOUR), now)).toBe(true);
});

test('Retry-After is seconds or a date, within bounds', () => {
  const now = Date.parse('2026-11-21T09:00:00Z');
  expect(readRetryAfterMs('120', now)).toBe(120_000);
  expect(readRetryAfterMs('0', now)).toBe(1_000);
  expect(readRetryAfterMs('999999999', now)).toBe(HOUR);
  expect(readRetryAfterMs('Sat, 21 Nov 2026 09:01:00 GMT', now)).toBe(MINUTE);
  expect(readRetryAfterMs('Sat, 21 Nov 2020 09:01:00 GMT', now)).toBe(1_000);
  expect(readRetryAfterMs('soon', now)).toBeNull();
  expect(readRetryAfterMs(undefined, now)).toBeNull();
});
