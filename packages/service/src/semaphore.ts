import { systemClock } from './clock.ts';

/**
 * Limits how many pieces of work run at the same time. Work that takes longer than `patienceMs` releases its
 * permit: a server that does not answer must not delay other work.
 */
export function createSemaphore(limit: number, patienceMs: number, clock = systemClock) {
  const waiting: (() => void)[] = [];
  let held = 0;

  /** Runs the work when a permit is free, and settles with its result. */
  return async function run<Result>(work: () => Promise<Result>) {
    if (held < limit) held += 1;
    else await new Promise<void>((start) => waiting.push(start));
    let isCounted = true;
    const release = () => {
      if (!isCounted) return;
      isCounted = false;
      const next = waiting.shift();
      // Passes the permit on, so that a caller that arrives now cannot take it as well.
      if (next) next();
      else held -= 1;
    };
    const timer = clock.setTimeout(release, patienceMs);
    try {
      return await work();
    } finally {
      clock.clearTimeout(timer);
      release();
    }
  };
}
