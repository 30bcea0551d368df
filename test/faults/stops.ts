import { existsSync, readFileSync } from 'node:fs';
import type { CallWindow } from './history.ts';

/** A time in which a process stood still, in milliseconds of the epoch. */
export interface Stop {
  from: number;
  to: number;
}

/** A ticket that was taken for locked is refused for up to this long: MAX_COOL_DOWN_MS of the API. */
const AFTER_STOP_MS = 5_000;

/** Returns the stops that the heartbeat of a process has noted (heartbeat.ts). */
export function readStops(file: string): Stop[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines
    .map((line) => line.split(' ').map(Number) as [number, number])
    .map(([from, to]) => ({ from, to }));
}

/** Whether neither the suite nor the API that was called stood still during the call, or shortly before. */
export const hasKeptUp = (
  { api, from, to }: CallWindow,
  startedAtEpochMs: number,
  stops: { suite: readonly Stop[]; apis: readonly (readonly Stop[])[] },
): boolean =>
  [...stops.suite, ...(stops.apis[api] ?? [])].every(
    (stop) => stop.from > startedAtEpochMs + to || stop.to + AFTER_STOP_MS < startedAtEpochMs + from,
  );
