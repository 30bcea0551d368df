import { failedPercent, type Figures, type Objective } from './objectives.ts';

/** The load of the processes during the rehearsal, from their metrics. Empty: no metrics were read. */
export interface Observed {
  /** CPU of each API process, in cores. */
  apiCores: number[];
  /** Registrations that waited for a group, at most, over all API processes. */
  mostWaiting: number | null;
  /** Age of the oldest batch that was not finalized, at most, in seconds. */
  oldestPendingSeconds: number | null;
}

/** A generator that is later than this does not measure the service. */
const LATE_MS = 50;
/** A process with more is at its limit: Node.js uses one core. */
const FULL_CORE = 0.85;
const OLD_SECONDS = 10;

const METRICS = 'Give --metrics with the addresses of the processes to see which part is at its limit.';

/** Returns in sentences what to scale next, the most important one first. */
export function adviceOf(figures: Figures, objectives: readonly Objective[], observed: Observed): string[] {
  const { apiCores, oldestPendingSeconds } = observed;
  const advice: string[] = [];
  if (figures.lateMs > LATE_MS)
    advice.push(
      'The generator was late, so these figures say little about the service. Use a faster machine, or a lower rate.',
    );
  if ((figures.codes['50'] ?? 0) > 0)
    advice.push('The partner of the key has a rate limit: floodgate partner limit raises or removes it.');
  if ((oldestPendingSeconds ?? 0) > OLD_SECONDS)
    advice.push('Finalization falls behind: add worker processes. Registrations do not wait for it.');
  const isMet = objectives.every((one) => one.isMet);
  if (isMet) return [...advice, 'All objectives are met. Nothing has to be scaled for this rate.'];
  if (figures.soldTwice > 0) return [...advice, 'A seat was sold twice. This is a fault: report it.'];
  if (apiCores.length === 0) return [...advice, METRICS];
  const busiest = Math.max(...apiCores);
  const [idlest] = apiCores.toSorted((one, other) => one - other);
  if (busiest > FULL_CORE && idlest! < busiest / 2)
    advice.push(
      'One API process is at its limit and another is not: the proxy spreads the requests unevenly.',
    );
  else if (busiest > FULL_CORE)
    advice.push(
      `${apiCores.length} API processes are at their limit: add more, each with a core of its own.`,
    );
  else if (failedPercent(figures) > 0 || (observed.mostWaiting ?? 0) > 0)
    advice.push(
      'The API processes have room, and requests wait: Postgres or its disk is the limit. More API processes do not help.',
    );
  else
    advice.push(
      'Neither the API processes nor Postgres are at their limit: look at the network and the proxy.',
    );
  return advice;
}
