/** A timer that has not fired yet. */
export interface Timer {
  /** The process may end before the timer fires. */
  unref(): unknown;
}

/**
 * The time that passes in a process. It is not the time of day. Production code gets `systemClock`. Tests
 * pass a clock that they advance, so that they decide by order and not by how fast the machine is.
 */
export interface Clock {
  /** Returns the milliseconds since an arbitrary moment. Never steps back. */
  now(): number;
  setTimeout(callback: () => void, ms: number): Timer;
  clearTimeout(timer: Timer | undefined): void;
}

/** The clock of the process. Its timers are those of Node.js, so a timer costs no further object. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** Resolves after `ms`, or when the signal is aborted. Never rejects. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
