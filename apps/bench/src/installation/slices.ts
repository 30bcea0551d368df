import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type RequestShape } from '@floodgate/rehearsal/load/load';
import type { Installation } from './installation.ts';

export interface SliceOptions {
  rounds: number;
  /** Length of each slice of load. */
  seconds: number;
}

interface Slice {
  request: RequestShape;
  connections: number;
  seconds: number;
  /** Runs after the load, before the installation becomes idle. */
  afterwards?: () => Promise<unknown>;
}

/** The result of a slice. */
export interface Measured {
  /** Accepted requests. */
  perSecond: number;
  /** CPU time of all processes per accepted request, until all are idle again. */
  cpuMicros: number;
}

/** Generates load in a closed loop. Resolves when the installation is idle again. */
export async function measureSlice(installation: Installation, slice: Slice): Promise<Measured> {
  const { baseUrl, cpuMicros, idle } = installation;
  const { request, connections, seconds, afterwards } = slice;
  const before = await cpuMicros();
  const result = await generateLoad({ baseUrl, requests: [request], connections, seconds });
  await afterwards?.();
  await idle();
  const accepted = answersOf(result, OK);
  return {
    perSecond: accepted / result.seconds,
    cpuMicros: ((await cpuMicros()) - before) / accepted,
  };
}

/** Measures neighbouring slices of two kinds in the order A B B A …, so a machine that slows down favours neither. */
export async function measurePairs(
  rounds: number,
  first: () => Promise<Measured>,
  second: () => Promise<Measured>,
): Promise<[Measured, Measured][]> {
  const pairs: [Measured, Measured][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const early = await (round % 2 === 0 ? first() : second());
    const late = await (round % 2 === 0 ? second() : first());
    pairs.push(round % 2 === 0 ? [early, late] : [late, early]);
  }
  return pairs;
}

/** Returns the ratio of each pair. */
export const ratiosOf = (pairs: readonly [Measured, Measured][], key: keyof Measured): number[] =>
  pairs.map(([first, second]) => first[key] / second[key]);
