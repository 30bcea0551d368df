import { setTimeout as delay } from 'node:timers/promises';
import { throttledWarn, type Logger } from './log.ts';

/** How a run of a periodic task ended. `idle`: there was nothing to do. */
export type TaskResult = 'more' | 'done' | 'idle';

/**
 * Something that a process repeats: at once after `more`, and after `intervalMs` otherwise. After each further `idle` it is repeated a
 * little later, up to IDLE_FACTOR intervals: an idle process needs next to no CPU.
 */
export interface PeriodicTask {
  name: string;
  intervalMs: number;
  run: () => Promise<TaskResult>;
}

const IDLE_GROWTH = 1.1;
const IDLE_FACTOR = 5;

/** Repeats `run`, with a pause unless it resolved to `more`. Failures go to `onError`. */
export function repeat(run: () => Promise<TaskResult>, intervalMs: number, onError: (error: Error) => void) {
  const stopping = new AbortController();
  let lastRunAt = performance.now();
  let pauseMs = intervalMs;
  const runAll = async () => {
    while (!stopping.signal.aborted) {
      const result = await run().catch((error: Error) => onError(error));
      lastRunAt = performance.now();
      pauseMs = result === 'idle' ? Math.min(pauseMs * IDLE_GROWTH, intervalMs * IDLE_FACTOR) : intervalMs;
      if (result !== 'more') await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const ended = runAll();
  return {
    /** Time since a run ended, successful or not. Grows only while a run hangs. */
    sinceLastRunMs: () => performance.now() - lastRunAt,
    /** The pause before the next run. */
    pauseMs: () => pauseMs,
    /** Starts no further run and waits for the current one. */
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

/** The progress of periodic tasks, by name. */
export type TasksProgress = Record<string, { sinceLastMs: number; intervalMs: number }>;

export type PeriodicTasks = ReturnType<typeof startPeriodicTasks>;

/** Repeats tasks until they are stopped. A failed run is logged, at most once a second per task, and repeated. */
export function startPeriodicTasks(tasks: readonly PeriodicTask[], log: Logger) {
  const started = tasks.map(({ name, intervalMs, run }) => {
    const warn = throttledWarn('a periodic task failed; it is repeated');
    return { name, ...repeat(run, intervalMs, (err) => warn(log, { err, task: name })) };
  });
  return {
    progress: (): TasksProgress =>
      Object.fromEntries(
        started.map(({ name, pauseMs, sinceLastRunMs }) => {
          return [name, { sinceLastMs: Math.round(sinceLastRunMs()), intervalMs: Math.round(pauseMs()) }];
        }),
      ),
    /** Starts no further run and waits for the current ones. */
    stop: async () => void (await Promise.all(started.map((task) => task.stop()))),
  };
}

/** Returns whether a task hangs: its run should have ended more than `stalledAfterMs` ago. */
export const isHanging = (tasks: TasksProgress, stalledAfterMs: number): boolean =>
  Object.values(tasks).some(({ sinceLastMs, intervalMs }) => sinceLastMs > intervalMs + stalledAfterMs);
