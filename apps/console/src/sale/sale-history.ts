import type { Database } from '@floodgate/database';
import { findSecond, readSeconds } from '@floodgate/tickets/console';
import type { Counts, EventInShard, SaleSecond } from '@floodgate/tickets/console';
import type { Series } from '../view/chart.ts';

export const WINDOW_MS = 15 * 60_000;
const MINUTE_MS = 60_000;
/** A point of the chart. */
const STEP_MS = 5_000;
/** A second can be committed a moment after a later one was read. */
const LATE_MS = 3_000;

/** The last 15 minutes of the sale of an event before a moment. */
export interface SaleWindow {
  end: Date;
  seconds: readonly SaleSecond[];
  /** The latest second, even if it is older. */
  last: SaleSecond | undefined;
}

/** Reads the 15 minutes before a moment. */
export async function readWindow(db: Database, event: EventInShard, end: Date): Promise<SaleWindow> {
  const [seconds, last] = await Promise.all([
    readSeconds(db, event, new Date(end.getTime() - WINDOW_MS), end),
    findSecond(db, event, end),
  ]);
  return { end, seconds, last };
}

/** Returns a function that resolves to the last 15 minutes. After its first call, it reads what is new. */
export function followWindow(db: Database, event: EventInShard) {
  let seconds: readonly SaleSecond[] | undefined;
  return async (end: Date): Promise<SaleWindow> => {
    const start = new Date(end.getTime() - WINDOW_MS);
    const last = seconds?.at(-1)?.at;
    const from = last ? new Date(Math.max(start.getTime(), last.getTime() - LATE_MS)) : start;
    const read = await readSeconds(db, event, from, new Date(end.getTime() + MINUTE_MS));
    const kept = (seconds ?? []).filter(({ at }) => at > start && at <= from);
    seconds = [...kept, ...read];
    return { end, seconds, last: seconds.at(-1) };
  };
}

/** Returns the seconds of the last `ms` of a window. */
export const latest = ({ end, seconds }: SaleWindow, ms: number) =>
  seconds.filter(({ at }) => at.getTime() > end.getTime() - ms);

export const sumAccepted = (seconds: readonly SaleSecond[]) =>
  seconds.reduce((sum, { accepted }) => sum + accepted, 0);

export const sumRefused = (seconds: readonly SaleSecond[]) =>
  seconds.reduce((sum, { refused }) => sum + totalOf(refused), 0);

const totalOf = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Returns the refusals of seconds by response code. */
export function refusedByCode(seconds: readonly SaleSecond[]) {
  const sums: Counts = {};
  for (const { refused } of seconds)
    for (const [code, count] of Object.entries(refused)) sums[code] = (sums[code] ?? 0) + count;
  return sums;
}

/** Returns the seats of a ticket that were taken in these seconds. */
export const acceptedOf = (ticketId: number, seconds: readonly SaleSecond[]) =>
  seconds.reduce((sum, { tickets }) => sum + (tickets[ticketId]?.[1] ?? 0), 0);

interface Points {
  /** The end of each. */
  times: Date[];
  accepted: number[];
  refused: number[];
}

/** Returns accepted and refused requests of a window: per second at points five seconds apart, or per minute. */
export const pointsOf = (window: SaleWindow) => points(window, STEP_MS, STEP_MS / 1_000);
export const minutesOf = (window: SaleWindow) => points(window, MINUTE_MS, 1);

/** Whole steps only: the one that has not ended would look like a fall. */
function points({ end, seconds }: SaleWindow, stepMs: number, divisor: number): Points {
  const endMs = Math.floor(end.getTime() / stepMs) * stepMs;
  const count = WINDOW_MS / stepMs;
  const startMs = endMs - WINDOW_MS;
  const zeros = () => Array.from({ length: count }, () => 0);
  const found: Points = {
    times: Array.from({ length: count }, (_, index) => new Date(startMs + (index + 1) * stepMs)),
    accepted: zeros(),
    refused: zeros(),
  };
  for (const second of seconds) {
    const index = Math.ceil((second.at.getTime() - startMs) / stepMs) - 1;
    if (index < 0 || index >= count) continue;
    found.accepted[index]! += second.accepted / divisor;
    found.refused[index]! += totalOf(second.refused) / divisor;
  }
  return found;
}

/** Returns points as the lines of a chart. */
export const seriesOf = (
  { accepted, refused }: Points,
  names: [accepted: string, refused: string],
): Series[] => [
  { name: names[0], values: accepted },
  { name: names[1], values: refused },
];
