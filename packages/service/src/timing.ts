import { setTimeout as delay } from 'node:timers/promises';

/** Settles as the promise does or, where that takes longer than `deadlineMs`, as `late` does. Leaves no timer behind. */
export async function withDeadline<T, Late>(promise: Promise<T>, deadlineMs: number, late: () => Late) {
  const over = new AbortController();
  const deadline = delay(deadlineMs, undefined, { signal: over.signal }).then(late);
  return Promise.race([promise, deadline]).finally(() => over.abort());
}

/** Something that a process repeats: at once after `more`, and after `intervalMs` otherwise. */
export interface Round {
  name: string;
  intervalMs: number;
  run: () => Promise<'more' | 'done'>;
}

export interface Repetition {
  /** How long ago a round ended, well or not. Grows only if a round hangs. */
  sinceLastRoundMs(): number;
  /** Starts no further round and waits for the one under way. */
  stop(): Promise<void>;
}

/** Runs `round` again and again, with a pause after one that answers `done`, or fails: `onError` is told, and it goes on. */
export function repeat(
  round: () => Promise<'more' | 'done'>,
  intervalMs: number,
  onError: (error: Error) => void,
): Repetition {
  const stopping = new AbortController();
  let lastRoundAt = performance.now();
  const run = async () => {
    while (!stopping.signal.aborted) {
      const result = await round().catch((error: Error) => onError(error));
      lastRoundAt = performance.now();
      if (result !== 'more') await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const ended = run();
  return {
    sinceLastRoundMs: () => performance.now() - lastRoundAt,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}
