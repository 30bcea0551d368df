import { ping, type Database } from '@floodgate/database';
import { readLags, type Lags } from '@floodgate/journal';
import type { Health, Repetition, Round } from '@floodgate/service';

/** What the judgement rests on. */
export interface Progress {
  postgres: 'up' | 'down';
  /** By name. A round that has ended, well or not, is repeated after its interval. */
  rounds: Record<string, { sinceLastMs: number; intervalMs: number }>;
  /** How far all consumers are behind, whichever process reads for them. Null where Postgres does not answer. */
  lags: Lags | null;
}

type RunningRound = Round & Repetition;

/** Returns how everything goes on. What does not answer reads null. */
export async function readProgress(db: Database, rounds: readonly RunningRound[]): Promise<Progress> {
  const [isUp, lags] = await Promise.all([ping(db), readLags(db).catch(() => null)]);
  return {
    postgres: isUp ? 'up' : 'down',
    rounds: Object.fromEntries(
      rounds.map(({ name, intervalMs, sinceLastRoundMs }) => [
        name,
        { sinceLastMs: Math.round(sinceLastRoundMs()), intervalMs },
      ]),
    ),
    lags,
  };
}

/** Judges a process by its rounds. That receivers are slow or away is no fault of its own: a restart would not help them. */
export function judge(progress: Progress, stalledAfterMs: number): Health<Progress> {
  const hangs = Object.values(progress.rounds).some(
    ({ sinceLastMs, intervalMs }) => sinceLastMs > intervalMs + stalledAfterMs,
  );
  if (progress.postgres === 'down') return { status: 'blocked', progress };
  return { status: hangs ? 'stalled' : 'ok', progress };
}
