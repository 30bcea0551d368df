import type { Figures, Objective } from './objectives.ts';

/** The load of the processes during the rehearsal, from their metrics. Empty: no metrics were read. */
export interface Observed {
  /** CPU of each API process, in cores. */
  apiCores: number[];
  /** Age of the oldest batch that was not finalized, at most, in seconds. */
  oldestPendingSeconds: number | null;
}

/** A generator that is later than this does not measure the service. */
const LATE_MS = 50;
/** A process with more is at its limit: Node.js uses one core. */
const FULL_CORE = 0.85;
const OLD_SECONDS = 10;

/** Returns in sentences what to scale next, the most important one first. */
export function adviceOf(figures: Figures, objectives: readonly Objective[], observed: Observed): string[] {
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
function limitOf({ apiCores }: Observed): string {
  if (apiCores.length === 0)
    return 'Give --metrics with the addresses of the processes to see which part is at its limit.';
  const [busiest, idlest] = [Math.max(...apiCores), Math.min(...apiCores)];
  if (busiest <= FULL_CORE)
    return 'The API processes have room: Postgres, its disk, the proxy or the network is the limit.';
  if (idlest < busiest / 2)
    return 'One API process is at its limit and another is not: the proxy spreads the requests unevenly.';
  return `${apiCores.length} API processes are at their limit: add more, each with a core of its own.`;
}
