import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { quotaLeases } from '@floodgate/database/limits/quota-lease';
import type { Logger } from '@floodgate/service';

/** When e-mails may be sent. */
export type SendingRate = ReturnType<typeof createSendingRate>;

/** A process takes at most this part of a second's e-mails at once, so that others get theirs. */
const PARTS = 10;

/** Returns the rate that all delivery processes share; without a limit nobody waits. */
export function createSendingRate(db: Database, log: Logger, perSecond: number | undefined) {
  const lease = quotaLeases(db, log, 'mail_rate_windows')(0);
  return {
    /** More are never allowed at once. */
    atOnce: perSecond ? Math.ceil(perSecond / PARTS) : Infinity,
    /** Waits until so many may be sent, `atOnce` at most. Resolves to false where it was aborted: none may. */
    async take(count: number, signal: AbortSignal): Promise<boolean> {
      while (!signal.aborted) {
        if (!perSecond) return true;
        const { admitted, endsInMs } = await lease.take(perSecond, count);
        if (admitted) return true;
        await delay(endsInMs + 1, undefined, { signal }).catch(() => {});
      }
      return false;
    },
  };
}
