import { systemClock } from './clock.ts';
import { throttledWarn, type Logger } from './log.ts';
import { repeat, type RepetitionProgress, type TaskResult } from './repeat.ts';

/**
 * A task that a process repeats: immediately after `more`, otherwise after `intervalMs`. Each further `idle`
 * lengthens the pause, up to some intervals, so that an idle process needs almost no CPU.
 */
export interface PeriodicTask {
  name: string;
  intervalMs: number;
  run: () => Promise<TaskResult>;
}

/** By name of the task. */
type Progress = Record<string, RepetitionProgress>;

export interface PeriodicTasks {
  progress(): Progress;
  /** Starts no further run and waits for the current ones. */
  stop(): Promise<void>;
}

/**
 * Repeats tasks until they are stopped. Logs a failed run, at most once per second and task, and repeats it.
 */
export function startPeriodicTasks(
  tasks: readonly PeriodicTask[],
  log: Pick<Logger, 'warn'>,
  clock = systemClock,
): PeriodicTasks {
  const started = tasks.map(({ name, intervalMs, run }) => {
    const warn = throttledWarn('a periodic task failed; it is repeated', clock);
    return { name, ...repeat(run, intervalMs, (err) => warn(log, { err, task: name }), clock) };
  });
  return {
    progress: () => Object.fromEntries(started.map(({ name, progress }) => [name, progress()])),
    stop: async () => void (await Promise.all(started.map((task) => task.stop()))),
  };
}

/** Returns whether a task hangs: its last run ended more than one interval and `stalledAfterMs` ago. */
export const isHanging = (tasks: Progress, stalledAfterMs: number) =>
  Object.values(tasks).some(({ sinceLastMs, intervalMs }) => sinceLastMs > intervalMs + stalledAfterMs);
