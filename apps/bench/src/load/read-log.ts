import { quantile } from '../report/statistics.ts';
import type { RequestLog } from './load.ts';

/** A stretch of time, in ms from the first phase. */
export interface Span {
  from: number;
  to: number;
}

type Times = 'dueAt' | 'sentAt' | 'answeredAt';

/** How many requests of a code (or any) have this time within the span, per second. */
export function rateIn(log: RequestLog, times: Times, { from, to }: Span, code?: string): number {
  let count = 0;
  log[times].forEach((at, number) => {
    if (at >= from && at < to && (code === undefined || log.code[number] === code)) count += 1;
  });
  return count / ((to - from) / 1000);
}

/** Numbers of the requests that were due within the span. */
export function dueIn(log: RequestLog, { from, to }: Span): number[] {
  const numbers: number[] = [];
  log.dueAt.forEach((at, number) => {
    if (at >= from && at < to) numbers.push(number);
  });
  return numbers;
}

/** How many there are of each response code. */
export function countCodes(log: RequestLog, numbers: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const number of numbers) {
    const code = log.code[number]!;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

/** From the scheduled arrival to the answer; NaN where none came. */
export function latencies(log: RequestLog, numbers: readonly number[], code?: string): number[] {
  return numbers
    .filter((number) => code === undefined || log.code[number] === code)
    .map((number) => log.answeredAt[number]! - log.dueAt[number]!);
}

const WINDOW_MS = 100;

/**
 * Seconds from `span.from` until the service is as it should be for good: every request answered "00", and half of each
 * tenth of a second's within `usualMs`.
 */
export function secondsUntilUsual(log: RequestLog, span: Span, usualMs: number): number {
  let usualFrom = span.from;
  for (let from = span.from; from < span.to; from += WINDOW_MS) {
    const numbers = dueIn(log, { from, to: from + WINDOW_MS });
    const isServed = numbers.every((number) => log.code[number] === '00');
    const isQuick = numbers.length === 0 || quantile(latencies(log, numbers), 0.5) <= usualMs;
    if (!isServed || !isQuick) usualFrom = from + WINDOW_MS;
  }
  return (usualFrom - span.from) / 1000;
}
