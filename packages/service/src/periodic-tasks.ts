import { setTimeout as delay } from 'node:timers/promises';
import { throttledWarn, type Logger } from './log.ts';

/** Something that a process repeats: at once after `more`, and after `intervalMs` otherwise. */
export interface PeriodicTask {
  name: string;
  intervalMs: number;
  run: () => Promise<'more' | 'done'>;
}

/** Repeats `run`, with a pause after one that resolves to `done`, or fails. Failures go to `onError`. */
export function repeat(
  run: () => Promise<'more' | 'done'>,
  intervalMs: number,
  onError: (error: Error) => void,
) {
  const stopping = new AbortController();
  let lastRunAt = performance.now();
  const runAll = async () => {
    while (!stopping.signal.aborted) {
      const result = await run().catch((error: Error) => onError(error));
      lastRunAt = performance.now();
      if (result !== 'more') await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const ended = runAll();
  return {
    /** Time since a run ended, successful or not. Grows only while a run hangs. */
    sinceLastRunMs: () => performance.now() - lastRunAt,
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
    return { name, intervalMs, ...repeat(run, intervalMs, (err) => warn(log, { err, task: name })) };
  });
  return {
    progress: (): TasksProgress =>
      Object.fromEntries(
        started.map(({ name, intervalMs, sinceLastRunMs }) => {
          return [name, { sinceLastMs: Math.round(sinceLastRunMs()), intervalMs }];
        }),
      ),
    /** Starts no further run and waits for the current ones. */
    stop: async () => void (await Promise.all(started.map((task) => task.stop()))),
  };
}

/** Returns whether a task hangs: its run should have ended more than `stalledAfterMs` ago. */
export const isHanging = (tasks: TasksProgress, stalledAfterMs: number): boolean =>
  Object.values(tasks).some(({ sinceLastMs, intervalMs }) => sinceLastMs > intervalMs + stalledAfterMs);
