import { systemClock } from './clock.ts';
import { throttledWarn, type Logger } from './log.ts';
import { repeat, type TaskResult } from './repeat.ts';

/**
 * A task that a process repeats: immediately after `more`, otherwise after `intervalMs`. Each further `idle` lengthens the pause, up to
 * some intervals, so that an idle process needs almost no CPU.
 */
export interface PeriodicTask {
  name: string;
  intervalMs: number;
  run: () => Promise<TaskResult>;
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
