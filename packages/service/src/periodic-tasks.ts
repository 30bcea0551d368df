import { setTimeout as delay } from 'node:timers/promises';
import { throttledWarn, type Logger } from './log.ts';

/** Something that a process repeats: at once after `more`, and after `intervalMs` otherwise. */
export interface PeriodicTask {
  name: string;
  intervalMs: number;
  run: () => Promise<'more' | 'done'>;
}

interface Repetition {
  /** Time since a run ended, successful or not. Grows only while a run hangs. */
  sinceLastRunMs(): number;
  /** Starts no further run and waits for the current one. */
  stop(): Promise<void>;
}

/** Repeats `run`, with a pause after one that resolves to `done`, or fails. Failures go to `onError`. */
export function repeat(
  run: () => Promise<'more' | 'done'>,
  intervalMs: number,
  onError: (error: Error) => void,
): Repetition {
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
    sinceLastRunMs: () => performance.now() - lastRunAt,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

/** The progress of periodic tasks, by name. */
export type TasksProgress = Record<string, { sinceLastMs: number; intervalMs: number }>;

export interface PeriodicTasks {
  progress(): TasksProgress;
  /** Starts no further run and waits for the current ones. */
  stop(): Promise<void>;
}

/** Repeats tasks until they are stopped. A failed run is logged, at most once a second per task, and repeated. */
export function startPeriodicTasks(tasks: readonly PeriodicTask[], log: Logger): PeriodicTasks {
  const started = tasks.map(({ name, intervalMs, run }) => {
    const warn = throttledWarn('a periodic task failed; it is repeated');
    const repetition = repeat(run, intervalMs, (err) => warn(log, { err, task: name }));
    return { name, intervalMs, repetition };
  });
  const progressOf = ({ intervalMs, repetition }: (typeof started)[number]) => ({
    sinceLastMs: Math.round(repetition.sinceLastRunMs()),
    intervalMs,
  });
  return {
    progress: () => Object.fromEntries(started.map((task) => [task.name, progressOf(task)])),
    stop: async () => void (await Promise.all(started.map(({ repetition }) => repetition.stop()))),
  };
}

/** Returns whether a task hangs: its run should have ended more than `stalledAfterMs` ago. */
export const isHanging = (tasks: TasksProgress, stalledAfterMs: number): boolean =>
  Object.values(tasks).some(({ sinceLastMs, intervalMs }) => sinceLastMs > intervalMs + stalledAfterMs);
