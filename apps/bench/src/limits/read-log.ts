import { quantile } from '../report/statistics.ts';
import type { RequestLog } from '@floodgate/rehearsal/load/load';

/** A period, in ms since the first phase. */
export interface Span {
  from: number;
  to: number;
}

type Times = 'dueAt' | 'sentAt' | 'answeredAt';

/** Returns the rate per second of requests with this time in the span, of one code or of all. */
export function rateIn(log: RequestLog, times: Times, { from, to }: Span, code?: string): number {
  let count = 0;
  log[times].forEach((at, number) => {
    if (at >= from && at < to && (code === undefined || log.code[number] === code)) count += 1;
  });
  return count / ((to - from) / 1000);
}

/** Returns the numbers of the requests that were due in the span. */
export function dueIn(log: RequestLog, { from, to }: Span): number[] {
  const numbers: number[] = [];
  log.dueAt.forEach((at, number) => {
    if (at >= from && at < to) numbers.push(number);
  });
  return numbers;
}

/** Returns the number of requests by response code. */
export function countCodes(log: RequestLog, numbers: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const number of numbers) {
    const code = log.code[number]!;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

/** Returns the times from the scheduled arrival to the answer, NaN without an answer. */
export function latencies(log: RequestLog, numbers: readonly number[], code?: string): number[] {
  return numbers
    .filter((number) => code === undefined || log.code[number] === code)
    .map((number) => log.answeredAt[number]! - log.dueAt[number]!);
}

const WINDOW_MS = 100;

/**
 * Returns the seconds from `span.from` until the service has recovered: from then on every request is
 * answered "00", and in each tenth of a second half of them within `usualMs`.
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
