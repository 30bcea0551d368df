import { withDeadline } from '@floodgate/service/timing';

/** For so long a round waits: a server that is silent makes no process look stuck. */
const ROUND_MS = 2_000;

/** Returns a round that begins some work, or goes on waiting for what it has begun, for a while. `ended` resolves when nothing is under way. */
export function longRound(work: () => Promise<'more' | 'done'>) {
  let underWay: Promise<'more' | 'done'> | null = null;
  return {
    async run(): Promise<'more' | 'done'> {
      underWay ??= work();
      let isOver = true;
      try {
        return await withDeadline(underWay, ROUND_MS, () => {
          isOver = false;
          return 'done' as const;
        });
      } finally {
        if (isOver) underWay = null;
      }
    },
    ended: () => Promise.allSettled([underWay]),
  };
}
