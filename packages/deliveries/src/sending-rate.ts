import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { quotaLeases } from '@floodgate/database/limits/quota-lease';
import type { Logger } from '@floodgate/service';

/** When e-mails may be sent. */
export interface SendingRate {
  /** More are never allowed at once. */
  atOnce: number;
  /** Waits until so many may be sent, `atOnce` at most. Resolves to false where it was aborted: none may. */
  take(count: number, signal: AbortSignal): Promise<boolean>;
}

/** A process takes at most this part of a second's e-mails at once, so that others get theirs. */
const PARTS = 10;

/** Returns the rate that all delivery processes share; without a limit nobody waits. */
export function createSendingRate(db: Database, log: Logger, perSecond: number | undefined): SendingRate {
  if (!perSecond) return { atOnce: Infinity, take: (_, signal) => Promise.resolve(!signal.aborted) };
  const lease = quotaLeases(db, log, 'mail_rate_windows')(0);
  return {
    atOnce: Math.ceil(perSecond / PARTS),
    async take(count, signal) {
      while (!signal.aborted) {
        const { admitted, endsInMs } = await lease.take(perSecond, count);
        if (admitted) return true;
        await delay(endsInMs + 1, undefined, { signal }).catch(() => {});
      }
      return false;
    },
  };
}
