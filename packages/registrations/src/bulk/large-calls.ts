import { once, type EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { sleep, systemClock, type Clock } from '@floodgate/service';
import { createFairQueue } from '@floodgate/service/fair-queue';

/**
 * After this time the next large call starts even if the process is busy, so that single calls do not starve
 * it.
 */
const PATIENCE_MS = 100;
/**
 * The event loop must have been idle this long since the previous call was answered. Then no other call waits
 * for it.
 */
const IDLE_MS = 1;

/** A response whose end can be awaited. */
type Closing = EventEmitter & Pick<ServerResponse, 'closed'>;

/** Resolves when a large call of the partner may start. Rejects with QueueFull. */
export type WaitForStart = (partnerId: number, response: Closing) => Promise<void>;

/**
 * Returns a function that delays large calls. While the process serves single calls, large calls start one at
 * a time, and only when the event loop is idle: each blocks it for some milliseconds. Partners are served in
 * rotation.
 */
export function createLargeCalls(
  servesSingleCalls: () => boolean,
  answerWithinMs: number,
  clock = systemClock,
): WaitForStart {
  const queue = createFairQueue({
    answerWithinMs,
    timeoutAppliesToRunning: false,
    patienceMs: PATIENCE_MS,
    // Of one partner.
    waitingLimit: 16,
    clock,
  });
  return async (partnerId, response) => {
    if (!servesSingleCalls()) return;
    await new Promise<void>((start, refuse) => {
      const work = () => {
        start();
        return untilIdle(response, clock);
      };
      queue(partnerId, () => !response.closed, work).catch(refuse);
    });
  };
}

/**
 * Resolves when the response is closed and the event loop has been idle since, or has been busy for too long.
 */
async function untilIdle(response: Closing, clock: Clock) {
  if (!response.closed) await once(response, 'close');
  const idleBefore = idleMs();
  const giveUpAt = clock.now() + PATIENCE_MS;
  while (idleMs() - idleBefore < IDLE_MS && clock.now() < giveUpAt) await sleep(clock, 1);
}

const idleMs = () => performance.eventLoopUtilization().idle;
