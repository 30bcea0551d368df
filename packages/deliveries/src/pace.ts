import { cpus, getPriority } from 'node:os';
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
    /** Waits until so many may be sent, `atOnce` at most, or until it is aborted. */
    async take(count: number, signal: AbortSignal): Promise<void> {
      if (!perSecond) return;
      while (!signal.aborted) {
        const { admitted, endsInMs } = await lease.take(perSecond, count);
        if (admitted) return;
        await delay(endsInMs + 1, undefined, { signal }).catch(() => {});
      }
    },
  };
}

/** The machine is busy when others than this process use more than this part of its CPUs. */
const BUSY = 0.5;
const MEASURED_EVERY_MS = 200;

/**
 * Returns whether this process should leave the machine to others: it runs at low CPU priority, and others are busy. The scheduler
 * alone does not suffice: what a delivery costs in Postgres and in the SMTP server has no low priority.
 */
export function createYielding(): () => boolean {
  let last = readTimes();
  let isBusy = false;
  return () => {
    if (performance.now() - last.at < MEASURED_EVERY_MS) return isBusy;
    const now = readTimes();
    isBusy = getPriority() > 0 && now.others - last.others > (now.all - last.all) * BUSY;
    last = now;
    return isBusy;
  };
}

/** Returns milliseconds of all CPUs since the machine started, and those that others than this process have used. */
function readTimes() {
  const { user, system } = process.cpuUsage();
  const times = { at: performance.now(), all: 0, others: (user + system) / -1_000 };
  for (const { times: cpu } of cpus()) {
    const used = cpu.user + cpu.nice + cpu.sys + cpu.irq;
    times.all += used + cpu.idle;
    times.others += used;
  }
  return times;
}
