import { throttledWarn, type Logger } from './log.ts';
import { repeat, type Round } from './timing.ts';

/** How rounds go on, by name. One that has ended, well or not, is repeated after its interval. */
export type RoundsProgress = Record<string, { sinceLastMs: number; intervalMs: number }>;

export interface Rounds {
  progress(): RoundsProgress;
  /** Starts no further round and waits for those under way. */
  stop(): Promise<void>;
}

/** Repeats rounds until they are stopped. One that fails is told to the log, at most once a second each, and goes on. */
export function startRounds(rounds: readonly Round[], log: Logger): Rounds {
  const started = rounds.map(({ name, intervalMs, run }) => {
    const warn = throttledWarn('a round failed; it is repeated');
    const repetition = repeat(run, intervalMs, (err) => warn(log, { err, task: name }));
    return { name, intervalMs, repetition };
  });
  return {
    progress: () =>
      Object.fromEntries(
        started.map(({ name, intervalMs, repetition }) => [
          name,
          { sinceLastMs: Math.round(repetition.sinceLastRoundMs()), intervalMs },
        ]),
      ),
    stop: async () => void (await Promise.all(started.map(({ repetition }) => repetition.stop()))),
  };
}

/** Returns whether one of these rounds hangs: it ought to have ended so long ago. */
export const isHanging = (rounds: RoundsProgress, stalledAfterMs: number): boolean =>
  Object.values(rounds).some(({ sinceLastMs, intervalMs }) => sinceLastMs > intervalMs + stalledAfterMs);
