import { sleep, systemClock } from './clock.ts';
import { throttledWarn, type Logger } from './log.ts';

/** Result of one run of a periodic task. `more`: work is left. `idle`: there was no work. */
export type TaskResult = 'more' | 'done' | 'idle';

/**
 * A task that a process repeats: immediately after `more`, otherwise after `intervalMs`. Each further `idle` lengthens the pause, up to
 * IDLE_FACTOR intervals, so that an idle process needs almost no CPU.
 */
export interface PeriodicTask {
  name: string;
  intervalMs: number;
  run: () => Promise<TaskResult>;
}

const IDLE_GROWTH = 1.1;
const IDLE_FACTOR = 8;

/** Repeats `run`, with a pause unless it resolves to `more`. Reports failures to `onError`. */
export function repeat(
  run: () => Promise<TaskResult>,
  intervalMs: number,
  onError: (error: Error) => void,
  clock = systemClock,
) {
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
    /** Returns the time since the last run ended, successfully or not, and the pause before the next run. */
    progress: () => ({
      sinceLastMs: Math.round(clock.now() - lastRunAt),
      intervalMs: Math.round(pauseMs),
    }),
    /** Starts no further run and waits for the current one. */
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

export type PeriodicTasks = ReturnType<typeof startPeriodicTasks>;

/** Repeats tasks until they are stopped. Logs a failed run, at most once per second and task, and repeats it. */
export function startPeriodicTasks(tasks: readonly PeriodicTask[], log: Logger, clock = systemClock) {
  const started = tasks.map(({ name, intervalMs, run }) => {
    const warn = throttledWarn('a periodic task failed; it is repeated', clock);
    return { name, ...repeat(run, intervalMs, (err) => warn(log, { err, task: name }), clock) };
  });
  return {
    progress: () => Object.fromEntries(started.map(({ name, progress }) => [name, progress()])),
    /** Starts no further run and waits for the current ones. */
    stop: async () => void (await Promise.all(started.map((task) => task.stop()))),
  };
}

/** Returns whether a task hangs: its last run ended more than one interval and `stalledAfterMs` ago. */
export const isHanging = (tasks: ReturnType<PeriodicTasks['progress']>, stalledAfterMs: number) =>
  Object.values(tasks).some(({ sinceLastMs, intervalMs }) => sinceLastMs > intervalMs + stalledAfterMs);
