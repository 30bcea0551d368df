import { expect, test } from 'vitest';
import type { RequestLog } from '@floodgate/rehearsal/load/load';
import { countCodes, dueIn, latencies, rateIn, secondsUntilUsual } from './read-log.ts';

/** Requests as [due at, answered at, code]. */
const logOf = (...requests: [number, number, string][]): RequestLog => ({
  startedAt: 0,
  dueAt: Float64Array.from(requests, ([dueAt]) => dueAt),
  sentAt: Float64Array.from(requests, ([dueAt]) => dueAt + 1),
  answeredAt: Float64Array.from(requests, ([, answeredAt]) => answeredAt),
  code: requests.map(([, , code]) => code),
  detail: requests.map(() => ''),
});

const log = logOf([0, 10, '00'], [150, 400, '00'], [350, 352, '90'], [450, 455, '00'], [460, 470, '00']);
const all = { from: 0, to: 1_000 };

test('requests are counted by when they were due, sent or answered, and by their code', () => {
  expect(rateIn(log, 'dueAt', { from: 0, to: 400 })).toBe(7.5);
  expect(rateIn(log, 'answeredAt', { from: 400, to: 500 }, '00')).toBe(30);
  expect(countCodes(log, dueIn(log, all))).toEqual({ '00': 4, '90': 1 });
  expect(latencies(log, dueIn(log, all), '90')).toEqual([2]);
});

test('service is usual again when no further answer is another, and none is slow for the half of them', () => {
  expect(secondsUntilUsual(log, all, 300)).toBe(0.4);
  expect(secondsUntilUsual(logOf([150, 400, '00'], [250, 260, '00']), all, 100)).toBe(0.2);
  expect(secondsUntilUsual(logOf([150, 160, '00']), all, 100)).toBe(0);
});
