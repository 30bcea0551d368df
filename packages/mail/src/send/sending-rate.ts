import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { drawInTime } from '@floodgate/database/limits/draw-permits';
import { QuotaLease } from '@floodgate/database/limits/quota-lease';
import type { Logger } from '@floodgate/service';

/** Waits until so many e-mails may be sent, at most `most` and at least one. Returns how many; 0 where it was aborted. */
export type SendingRate = (most: number, signal: AbortSignal) => Promise<number>;

const COUNTER = { table: 'mail_rate_windows', column: 'sender_id', id: 0 } as const;
/** A process takes at most this part of a second's e-mails at once, so that others get theirs. */
const PARTS = 10;

/** Returns the rate that all delivery processes share; without a limit nobody waits. */
export function createSendingRate(db: Database, log: Logger, perSecond: number | undefined): SendingRate {
  if (!perSecond) return (most, signal) => Promise.resolve(signal.aborted ? 0 : most);
  const draw = drawInTime(db, log);
  const lease = new QuotaLease((wanted) => draw(COUNTER, wanted));
  return async (most, signal) => {
    const permits = Math.min(most, Math.ceil(perSecond / PARTS));
    while (!signal.aborted) {
      const { admitted, endsInMs } = await lease.take(perSecond, permits);
      if (admitted) return permits;
      await delay(endsInMs + 1, undefined, { signal }).catch(() => {});
    }
    return 0;
  };
}
