import type { Stop } from './stops.ts';

const TICK_MS = 50;
/** A later tick shows that this process stood still in between. */
const LATE_MS = 4 * TICK_MS;

const epochMs = (ms: number) => performance.timeOrigin + ms;

let runningMs = 0;
let longestStopMs = 0;
let stops: Stop[] = [];
let tickedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  const sinceMs = now - tickedAt;
  tickedAt = now;
  runningMs += Math.min(sinceMs, LATE_MS);
  longestStopMs = Math.max(longestStopMs, sinceMs);
  if (sinceMs > LATE_MS) stops.push({ from: epochMs(now - sinceMs), to: epochMs(now) });
}, TICK_MS).unref();

/**
 * The time that this process runs. On a busy machine it can stand still for seconds. Afterwards Node runs
 * timers before it reads answers, so an ordinary timeout would give up a request that was answered meanwhile.
 */
export const runningTime = {
  /** Returns a signal that aborts with a TimeoutError after this much running time. */
  timeout(ms: number): AbortSignal {
    const over = new AbortController();
    const endsAt = runningMs + ms;
    const wait = () => {
      if (runningMs >= endsAt) over.abort(new DOMException('no answer in time', 'TimeoutError'));
      else setTimeout(wait, Math.max(TICK_MS, endsAt - runningMs)).unref();
    };
    wait();
    return over.signal;
  },

  /** Returns when this process stood still since the last call. */
  takeStops(): Stop[] {
    const taken = stops;
    stops = [];
    return taken;
  },

  /** Returns how long this process stood still at most, since the last call. */
  takeLongestStopMs(): number {
    const longest = longestStopMs;
    longestStopMs = 0;
    return longest;
  },
};
