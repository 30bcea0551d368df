/**
 * Bounds how many pieces of work run at once. Work that takes longer than `patienceMs` is no longer counted: a server that does
 * not answer must not delay the work of the others.
 */
export function createSemaphore(limit: number, patienceMs: number) {
  const waiting: (() => void)[] = [];
  let held = 0;

  /** Runs the work when a permit is free. Settles as the work does. */
  return async function run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (held < limit) held += 1;
    else await new Promise<void>((start) => waiting.push(start));
    let isCounted = true;
    const release = () => {
      if (!isCounted) return;
      isCounted = false;
      const next = waiting.shift();
      // The permit is passed on: a caller that arrives now must not take it as well.
      if (next) next();
      else held -= 1;
    };
    const timer = setTimeout(release, patienceMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      release();
    }
  };
}
