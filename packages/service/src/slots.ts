/**
 * Bounds how many pieces of work are under way at once. One that takes longer than `patienceMs` is no longer counted: what
 * is slow, because its server does not answer, must not keep the others waiting.
 */
export function createSlots(limit: number, patienceMs: number) {
  const waiting: (() => void)[] = [];
  let taken = 0;

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  }

  /** Runs the work when there is room for it. Settles as the work does. */
  return async function run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (taken < limit) taken += 1;
    // Whoever ends hands its place over: nobody can come in between.
    else await new Promise<void>((start) => waiting.push(start));
    let isCounted = true;
    const end = () => {
      if (isCounted) release();
      isCounted = false;
    };
    const timer = setTimeout(end, patienceMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      end();
    }
  };
}
