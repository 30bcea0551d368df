import type { RunningProcess } from '@floodgate/operators';

/** The pace is that of the last reads. */
const READS = 6;
/** The codes of requests whose event may not be known. */
const CODES = ['10', '12', '20', '21', '60'];

/**
 * Measures the requests that are refused and belong to no known event. `add` must be called with each read of
 * the processes.
 */
export function measureStrangers() {
  let reads: { at: number; counts: Map<string, number> }[] = [];
  return {
    add: (running: readonly RunningProcess[], at: number) => {
      const counts = new Map(running.map(({ id, facts }) => [id, countOf(facts)]));
      reads = [...reads.slice(1 - READS), { at, counts }];
    },
    /** Returns how many there are per second. */
    perSecond: () => {
      const [first, last] = [reads[0], reads.at(-1)];
      if (!first || !last || first === last) return 0;
      const added = [...last.counts].map(([id, count]) => count - (first.counts.get(id) ?? count));
      const sum = added.reduce((total, count) => total + Math.max(0, count), 0);
      return (sum * 1_000) / (last.at - first.at);
    },
  };
}

function countOf({ refused = {}, refusedOf = {} }: RunningProcess['facts']) {
  const known = Object.values(refusedOf);
  return CODES.reduce((sum, code) => {
    const ofEvents = known.reduce((count, counts) => count + (counts[code] ?? 0), 0);
    return sum + Math.max(0, (refused[code] ?? 0) - ofEvents);
  }, 0);
}
