import { ping, type Database } from '@floodgate/database';
import { readLags, type Lags } from '@floodgate/journal';
import { isHanging, type Health, type Rounds, type RoundsProgress } from '@floodgate/service';

/** What the judgement rests on. */
export interface Progress {
  postgres: 'up' | 'down';
  rounds: RoundsProgress;
  /** How far all consumers are behind, whichever process reads for them. Null where Postgres does not answer. */
  lags: Lags | null;
}

/** Returns how everything goes on. What does not answer reads null. */
export async function readProgress(db: Database, rounds: Rounds): Promise<Progress> {
  const [isUp, lags] = await Promise.all([ping(db), readLags(db).catch(() => null)]);
  return {
    postgres: isUp ? 'up' : 'down',
    rounds: rounds.progress(),
    lags,
  };
}

/** Judges a process by its rounds. That receivers are slow or away is no fault of its own: a restart would not help them. */
export function judge(progress: Progress, stalledAfterMs: number): Health<Progress> {
  if (progress.postgres === 'down') return { status: 'blocked', progress };
  return { status: isHanging(progress.rounds, stalledAfterMs) ? 'stalled' : 'ok', progress };
}
