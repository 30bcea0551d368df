import { systemClock, type Clock } from './clock.ts';
import { createSemaphore } from './semaphore.ts';

/**
 * A request was refused: too many of its partner's requests wait, or it took too long. It changed nothing.
 */
export class QueueFull extends Error {
  override name = 'QueueFull';
}

interface FairQueueOptions {
  /** Time limit for a caller's work, including its time in the queue. */
  answerWithinMs: number;
  /**
   * Whether the time limit also applies to work that has started. False for changes: a refusal says that
   * nothing changed.
   */
  timeoutAppliesToRunning?: boolean;
  /** Slower work releases its permit: its shard does not answer, and other work must not wait for it. */
  patienceMs?: number;
  /**
   * Limit of a partner's waiting requests. High, because a refused caller retries soon, which costs more than
   * a waiting one.
   */
  waitingLimit?: number;
  clock?: Clock | undefined;
}

type Waiting = { start: () => Promise<void>; isCallerConnected: () => boolean };

// One shared instance: capturing a stack for each refusal would make an overload worse.
const REFUSED = new QueueFull('too many requests are waiting');

/**
 * Runs one piece of work at a time and serves waiting partners in rotation. A partner with many requests
 * delays another partner's request by one piece of work at most. The connection pool's own queue stays short:
 * a long one blocks the event loop. A partner is a key: the sign-in of the console uses it for addresses and
 * names.
 */
export function createFairQueue({
  answerWithinMs,
  timeoutAppliesToRunning = true,
  patienceMs = 500,
  waitingLimit = 500,
  clock = systemClock,
}: FairQueueOptions) {
  const withPermit = createSemaphore(1, patienceMs, clock);
  /** Waiting work by partner. The first partner is served next. */
  const queues = new Map<string | number, Set<Waiting>>();
  let isScheduled = false;

  function schedule() {
    if (isScheduled || queues.size === 0) return;
    isScheduled = true;
    void withPermit(async () => {
      isScheduled = false;
      const waiting = next();
      schedule();
      await waiting?.start();
    });
  }

  function leave(partnerId: string | number, waiting: Waiting) {
    const queue = queues.get(partnerId);
    queue?.delete(waiting);
    if (queue?.size === 0) queues.delete(partnerId);
  }

  /** Removes and returns the next work. Skips work whose caller has left. */
  function next() {
    for (const [partnerId, queue] of queues)
      for (const waiting of queue) {
        leave(partnerId, waiting);
        // Moves the partner to the end.
        if (queues.delete(partnerId)) queues.set(partnerId, queue);
        if (waiting.isCallerConnected()) return waiting;
      }
    return undefined;
  }

  /**
   * Runs the partner's work and settles with its result. Rejects with QueueFull if too many of the partner's
   * requests wait, or if the work does not end in time. Work whose caller has left is not run.
   */
  return function run<Result>(
    partnerId: string | number,
    isCallerConnected: () => boolean,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const start = () => {
      if (!timeoutAppliesToRunning) clock.clearTimeout(timer);
      return work().then(resolve, reject);
    };
    const waiting: Waiting = { isCallerConnected, start };
    const queue = queues.getOrInsertComputed(partnerId, () => new Set());
    if (queue.size >= waitingLimit) return Promise.reject(REFUSED);
    queue.add(waiting);
    const timer = clock.setTimeout(() => {
      leave(partnerId, waiting);
      reject(REFUSED);
    }, answerWithinMs);
    schedule();
    return promise.finally(() => clock.clearTimeout(timer));
  };
}
