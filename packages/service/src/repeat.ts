import { sleep, systemClock } from './clock.ts';

/** Result of one run of a periodic task. `more`: work is left. `idle`: there was no work. */
export type TaskResult = 'more' | 'done' | 'idle';

const IDLE_GROWTH = 1.1;
const IDLE_FACTOR = 8;

/** Work that is repeated until it is stopped. */
export interface Repetition {
  /** Returns the time since the last run ended, successfully or not, and the pause before the next run. */
  progress(): RepetitionProgress;
  /** Starts no further run and waits for the current one. */
  stop(): Promise<void>;
}

export interface RepetitionProgress {
  sinceLastMs: number;
  intervalMs: number;
}

/** Repeats `run`, with a pause unless it resolves to `more`. Reports failures to `onError`. */
export function repeat(
  run: () => Promise<TaskResult>,
  intervalMs: number,
  onError: (error: Error) => void,
  clock = systemClock,
): Repetition {
  const stopping = new AbortController();
  let lastRunAt = clock.now();
  let pauseMs = intervalMs;
  const runAll = async () => {
    while (!stopping.signal.aborted) {
      const result = await run().catch((error: Error) => onError(error));
      lastRunAt = clock.now();
      pauseMs = result === 'idle' ? Math.min(pauseMs * IDLE_GROWTH, intervalMs * IDLE_FACTOR) : intervalMs;
      if (result !== 'more') await sleep(clock, pauseMs, stopping.signal);
    }
  };
  const ended = runAll();
  return {
    progress: () => ({
      sinceLastMs: Math.round(clock.now() - lastRunAt),
      intervalMs: Math.round(pauseMs),
    }),
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}
