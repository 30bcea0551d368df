import type { Progress } from './progress.ts';
import type { Results } from './report/results.ts';
import type { Servers } from './servers.ts';

/** Lengths and choices of a measurement. Each has an option of the command line. */
export interface Settings {
  /** Rounds. Each compares with a reference that is measured next to it, if there is one. 0: as planned. */
  pairs: number;
  /** Length of each load. 0: as planned. */
  seconds: number;
  /** Stored rows, entries, seats or scans: see the mode. */
  rows: number;
  /** Parts of names. Empty: all. */
  only: readonly string[];
  /** The folder of another installed checkout. */
  checkout: string;
  redisSeconds: number;
  postgresSeconds: number;
  /** Requests per second. */
  rate: number;
}

/** The surroundings of a measurement. */
export interface Bench {
  servers: Servers;
  results: Results;
  progress: Progress;
  /** Ends the measurement. */
  signal: AbortSignal;
}

/** A measurement that the command line can select. */
export interface Mode {
  /** Its option, e.g. "soak" for --soak. */
  name: string;
  /** A line for the reader. */
  help: string;
  /** The settings that it takes, with their default values. */
  usual: Partial<Settings>;
  /** Returns the approximate duration in seconds. */
  duration(settings: Settings): number;
  measure(bench: Bench, settings: Settings): Promise<void>;
}

/** Settings that a mode does not take. */
export const NO_SETTINGS: Settings = {
  pairs: 1,
  seconds: 0,
  rows: 0,
  only: [],
  checkout: '',
  redisSeconds: 0,
  postgresSeconds: 0,
  rate: 0,
};

/**
 * Runs a part of a measurement. If it fails, the report names it with the reason, has no figures of it, and
 * the others go on. Throws only if the whole measurement is to end.
 */
export async function attempt<Result>(
  { progress, results, signal }: Bench,
  what: string,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  signal.throwIfAborted();
  progress.say(what);
  try {
    return await run();
  } catch (error) {
    signal.throwIfAborted();
    results.discard(what, (error as Error).message);
    return undefined;
  }
}

/** Rejects when the measurement is to end. */
export function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}

/**
 * Returns the items in their order, and in the reverse order in even rounds: a machine that slows down
 * favours none of them.
 */
export const inTurn = <Item>(items: readonly Item[], round: number): readonly Item[] =>
  round % 2 === 1 ? items : items.toReversed();
