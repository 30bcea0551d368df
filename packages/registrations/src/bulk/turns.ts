import type { ServerResponse } from 'node:http';
import type { Partner } from '../register/lanes.ts';
import type { Registrar } from '../register/registrar.ts';
import { createWaitingRoom } from '../register/waiting-room.ts';

export interface TurnsOptions {
  /** Whether others are being served beside large calls. */
  isShared: () => boolean;
  /**
   * A call begins so long after the last one, however busy the process is and whatever became of that one: single calls may not
   * starve it either, and one whose ticket or shard is slow keeps no other.
   */
  patienceMs: number;
  answerWithinMs: number;
}

/** Calls that may wait for their turn. */
const MOST_WAITING = 16;
/** What the event loop has to have slept since the last call before the next one begins: nobody waited for it then. */
const IDLE_MS = 1;
const LOOK_EVERY_MS = 1;

const idleMs = () => performance.eventLoopUtilization().idle;

/**
 * Lets large calls come one at a time while others are being served, and only when the event loop has time for them: each keeps it
 * busy for some milliseconds, for which all others wait. Where nobody else is served they come as they like. Partners take turns.
 */
export function createTurns({ isShared, patienceMs, answerWithinMs }: TurnsOptions) {
  const room = createWaitingRoom<ServerResponse, boolean>({
    groupLimit: 1,
    waitingLimit: MOST_WAITING,
    answerWithinMs,
    seatsOf: () => 1,
  });
  /** The last that has begun, unless it is answered. */
  let underWay: ServerResponse | null = null;
  let begunAt = -Infinity;
  let idleBefore = 0;
  let timer: NodeJS.Timeout | null = null;

  const isFree = () => underWay === null && idleMs() - idleBefore >= IDLE_MS;
  const mayBegin = () => !isShared() || isFree() || performance.now() - begunAt >= patienceMs;

  function startNext(): void {
    while (room.size() > 0 && mayBegin()) {
      const [next] = room.takeGroup();
      begin(next!.item);
      next!.answer(true);
    }
    if (room.size() === 0) return;
    timer ??= setTimeout(() => {
      timer = null;
      startNext();
    }, LOOK_EVERY_MS);
  }

  function begin(response: ServerResponse): void {
    // Its client has left meanwhile: there will be no other end of it.
    if (response.closed) return;
    underWay = response;
    begunAt = performance.now();
    response.once('close', () => {
      if (underWay !== response) return;
      underWay = null;
      idleBefore = idleMs();
    });
  }

  return {
    /** Resolves to true when the call may go on. False: there is no room for it. */
    wait(partner: Partner, response: ServerResponse): Promise<boolean> {
      return new Promise((answer) => {
        if (room.enter(response, partner, answer)) startNext();
        else answer(false);
      });
    },
  };
}

/** How long ago the last single call may be, where single calls are being served. */
const LATELY_MS = 1_000;

/** Returns the registrar, and what tells whether it registers attendees one by one. */
export function watchSingleCalls(registrar: Registrar) {
  let lastAt = -Infinity;
  const watched: Registrar = {
    ...registrar,
    register(...call) {
      lastAt = performance.now();
      return registrar.register(...call);
    },
  };
  return { registrar: watched, areServed: () => performance.now() - lastAt < LATELY_MS };
}
