import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createFairQueue } from '@floodgate/service/fair-queue';

/** A large call starts this long after the one before, however busy the process is: single calls must not starve it either. */
const PATIENCE_MS = 100;
const WAITING_PER_PARTNER = 16;
/** The event loop must have slept this long since the call before was answered: then nobody waited for it. */
const IDLE_MS = 1;

/**
 * Returns what a large call waits for: while the process serves single calls, large ones start one at a time, and only when the
 * event loop has time. Each keeps it busy for some milliseconds. Partners are served in turn. Rejects with QueueFull.
 */
export function createLargeCalls(servesSingleCalls: () => boolean, answerWithinMs: number) {
  const queue = createFairQueue({
    answerWithinMs,
    abandonsStarted: false,
    patienceMs: PATIENCE_MS,
    waitingLimit: WAITING_PER_PARTNER,
  });
  return async (partnerId: number, response: ServerResponse): Promise<void> => {
    if (!servesSingleCalls()) return;
    await new Promise<void>((start, refuse) => {
      const work = () => {
        start();
        return untilIdle(response);
      };
      queue(partnerId, () => !response.closed, work).catch(refuse);
    });
  };
}

/** Resolves when the response has been sent and the event loop has slept, or when that has taken too long. */
async function untilIdle(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close');
  const idleBefore = idleMs();
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (idleMs() - idleBefore < IDLE_MS && performance.now() < giveUpAt) await delay(1);
}

const idleMs = () => performance.eventLoopUtilization().idle;
