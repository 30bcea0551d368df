import type { RequestLog } from './load/load.ts';
import type { Observed } from './observe.ts';

/** Answers that follow from the rules of the sale, such as "sold out". The others are failures. */
const REGULAR = ['00', '31', '32', '33', '37'];

/** The codes of requests that have no answer. */
const UNANSWERED = ['cut', 'none', 'gone'];

/** Returns the value below which this share of the sorted values lies; null without values. */
export function quantile(sorted: Float64Array, share: number) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

/** Returns the sorted times from the arrival to the answer in milliseconds, without requests that have no answer. */
export function timesOf({ dueAt, answeredAt, code }: RequestLog, numbers: Iterable<number> = dueAt.keys()) {
  const answered = [...numbers].filter((number) => !UNANSWERED.includes(code[number]!));
  return Float64Array.from(answered, (number) => answeredAt[number]! - dueAt[number]!).sort();
}

/** The rehearsed launch in figures. */
export type Figures = ReturnType<typeof figuresOf>;

/**
 * Returns the figures of all requests. `lateMs` is how far the generator was behind its schedule: the 99th
 * percentile.
 */
export function figuresOf(log: RequestLog, lateMs: number) {
  const { code, detail } = log;
  const times = timesOf(log);
  const codes: Record<string, number> = {};
  for (const one of code) codes[one] = (codes[one] ?? 0) + 1;
  const references = detail.filter((_, number) => code[number] === '00');
  return {
    /** Requests that arrived. */
    offered: code.length,
    answered: times.length,
    /**
     * By response code, or "cut" if the connection ended, "none" without an answer, "gone" if no connection
     * became free.
     */
    codes,
    /** From the scheduled arrival to the answer, in milliseconds; null without answers. */
    p50: quantile(times, 0.5),
    p90: quantile(times, 0.9),
    p95: quantile(times, 0.95),
    p99: quantile(times, 0.99),
    /** Pass references that were given out more than once. */
    soldTwice: references.length - new Set(references).size,
    lateMs,
  };
}

/** An objective, with the figure that was measured. */
export type Objective = ReturnType<typeof judge>[number];

/**
 * Judges a launch by the objectives that marketplaces set for reservations, and by our own: no seat is sold
 * twice. Without answers there is no measured figure.
 */
export function judge(figures: Figures) {
  const regular = REGULAR.reduce((sum, code) => sum + (figures.codes[code] ?? 0), 0);
  const failed = (1 - regular / Math.max(1, figures.offered)) * 100;
  const rows: [name: string, unit: 'ms' | '%' | '', atMost: number, measured: number | null][] = [
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

/** A generator that is later than this does not measure the service. */
const LATE_MS = 50;
/** A process with more is at its limit: Node.js uses one core. */
const FULL_CORE = 0.85;
const OLD_SECONDS = 10;

/** Returns in sentences what to scale next, the most important one first. */
export function adviceOf(figures: Figures, objectives: readonly Objective[], observed: Observed) {
  const { codes, lateMs, soldTwice } = figures;
  const notes: [applies: boolean, sentence: string][] = [
    [lateMs > LATE_MS, 'The generator was late: use a faster machine or a lower rate, and rehearse again.'],
    [Boolean(codes['50']), 'The partner of the key has a rate limit: see floodgate partner limit.'],
    [
      Boolean(codes['gone']),
      'Some people found no free connection for 10 s. If the service has room, raise --connections.',
    ],
    [
      (observed.oldestPendingSeconds ?? 0) > OLD_SECONDS,
      'Finalization falls behind: add worker processes. Registrations do not wait for it.',
    ],
    [soldTwice > 0, 'A seat was sold twice. This is a fault: report it.'],
  ];
  const isMet = objectives.every((one) => one.isMet);
  return [
    ...notes.filter(([applies]) => applies).map(([, sentence]) => sentence),
    isMet ? 'All objectives are met. Nothing has to be scaled for this rate.' : limitOf(observed),
  ];
}

/** Returns which part is at its limit. */
function limitOf({ apiCores }: Observed) {
  if (apiCores.length === 0)
    return 'Give --metrics with the addresses of the processes to see which part is at its limit.';
  const [busiest, idlest] = [Math.max(...apiCores), Math.min(...apiCores)];
  if (busiest <= FULL_CORE)
    return 'The API processes have room: Postgres, its disk, the proxy or the network is the limit.';
  if (idlest < busiest / 2)
    return 'One API process is at its limit and another is not: the proxy spreads the requests unevenly.';
  return `${apiCores.length} API processes are at their limit: add more, each with a core of its own.`;
}
