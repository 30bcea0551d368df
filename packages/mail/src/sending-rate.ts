import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { quotaLeases } from '@floodgate/database/limits/quota-lease';
import type { SendingRate } from '@floodgate/deliveries';
import type { Logger } from '@floodgate/service';

/** A process takes at most this part of a second's e-mails together, so that other processes get a share. */
const PART_OF_SECOND = 1 / 10;

/** Returns the rate limiter that all delivery processes share. Without a limit, nothing waits. */
export function createSendingRate(db: Database, log: Logger, perSecond: number | undefined): SendingRate {
  if (!perSecond) return { limitPerCall: Infinity, take: async () => {} };
  const lease = quotaLeases(db, log, 'mail_rate_windows')(0);
  return {
    limitPerCall: Math.ceil(perSecond * PART_OF_SECOND),
    async take(count, signal) {
      while (!signal.aborted) {
        const { admitted, endsInMs } = await lease.take(perSecond, count);
        if (admitted) return;
        await delay(endsInMs + 1, undefined, { signal }).catch(() => {});
      }
    },
  };
}
