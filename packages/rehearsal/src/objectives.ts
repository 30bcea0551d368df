import type { RequestLog } from './load/load.ts';

/** The rehearsed launch in figures. */
export interface Figures {
  /** Requests that arrived. */
  offered: number;
  answered: number;
  /** By response code, or "cut" if the connection ended, "none" without an answer, "gone" if no connection became free. */
  codes: Record<string, number>;
  /** From the scheduled arrival to the answer, in milliseconds; null without answers. */
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  /** Pass references that were given out more than once. */
  soldTwice: number;
  /** How far the generator was behind its schedule: the 99th percentile, in milliseconds. */
  lateMs: number;
}

/** Answers that follow from the rules of the sale, such as "sold out". The others are failures. */
const REGULAR = ['00', '31', '32', '33', '37'];

/** Returns the value below which this share of the sorted values lies; null without values. */
export function quantile(sorted: Float64Array, share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

/** Returns the sorted times from the arrival to the answer in milliseconds, without requests that have no answer. */
export function timesOf({ dueAt, answeredAt, code }: RequestLog, numbers: Iterable<number> = dueAt.keys()) {
  const timeOf = (number: number) => answeredAt[number]! - dueAt[number]!;
  // A connection that ended has a time, but no answer.
  const times = Float64Array.from(numbers, (number) =>
    code[number] === 'cut' ? Number.NaN : timeOf(number),
  );
  return times.filter((ms) => !Number.isNaN(ms)).sort();
}

/** Returns the figures of all requests. */
export function figuresOf(log: RequestLog, lateMs: number): Figures {
  const { code, detail } = log;
  const times = timesOf(log);
  const codes: Record<string, number> = {};
  for (const one of code) codes[one] = (codes[one] ?? 0) + 1;
  const references = detail.filter((_, number) => code[number] === '00');
  return {
    offered: code.length,
    answered: times.length,
    codes,
    p50: quantile(times, 0.5),
    p90: quantile(times, 0.9),
    p95: quantile(times, 0.95),
    p99: quantile(times, 0.99),
    soldTwice: references.length - new Set(references).size,
    lateMs,
  };
}

/** An objective, with the figure that was measured. */
export interface Objective {
  name: string;
  unit: 'ms' | '%' | '';
  atMost: number;
  /** Null: there were no answers. */
  measured: number | null;
  isMet: boolean;
}

/** Judges a launch by the objectives that marketplaces set for reservations, and by our own: no seat is sold twice. */
export function judge(figures: Figures): Objective[] {
  const regular = REGULAR.reduce((sum, code) => sum + (figures.codes[code] ?? 0), 0);
  const failed = (1 - regular / Math.max(1, figures.offered)) * 100;
  const rows: [name: string, unit: Objective['unit'], atMost: number, measured: number | null][] = [
    ['Viator: p90 of a reservation', 'ms', 1_000, figures.p90],
    ['GetYourGuide: p95 of a reservation', 'ms', 3_000, figures.p95],
    ['Expedia: p99 of a sale', 'ms', 1_000, figures.p99],
    ['Viator: failed reservations', '%', 1.5, failed],
    ['Viator: not available', '%', 0.2, failed],
    ['Seats sold twice', '', 0, figures.soldTwice],
  ];
  return rows.map(([name, unit, atMost, measured]) => {
    return { name, unit, atMost, measured, isMet: measured !== null && measured <= atMost };
  });
}
