import { ping, type Database } from '@floodgate/database';
import { readLags, type Lags } from '@floodgate/journal';
import { isHanging, type Health, type PeriodicTasks, type TasksProgress } from '@floodgate/service';

/** The facts behind the judgement. */
export interface Progress {
  postgres: 'up' | 'down';
  tasks: TasksProgress;
  /** How far all consumers are behind, whichever process reads for them. Null where Postgres does not answer. */
  lags: Lags | null;
}

/** Returns the progress of everything; null for a server that does not answer. */
export async function readProgress(db: Database, tasks: PeriodicTasks): Promise<Progress> {
  const [isUp, lags] = await Promise.all([ping(db), readLags(db).catch(() => null)]);
  return {
    postgres: isUp ? 'up' : 'down',
    tasks: tasks.progress(),
    lags,
  };
}

/** Judges a process by its periodic tasks. Receivers that are slow or down do not count: a restart would not help them. */
export function judge(progress: Progress, stalledAfterMs: number): Health<Progress> {
  if (progress.postgres === 'down') return { status: 'blocked', progress };
  return { status: isHanging(progress.tasks, stalledAfterMs) ? 'stalled' : 'ok', progress };
}
