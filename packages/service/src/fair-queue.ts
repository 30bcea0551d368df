import { createSemaphore } from './semaphore.ts';

/** Too many callers of the same kind wait already. The work has not started. */
export class QueueFull extends Error {
  override name = 'QueueFull';
}

export interface FairQueueOptions {
  /** How long a caller waits for the end of its work, the time in the queue included. */
  answerWithinMs: number;
  /** Whether a caller also stops waiting for work that has started. Not for changes: the answer must not say that nothing happened. */
  abandonsStarted?: boolean;
  /** Work that takes longer frees its permit: it waits for a shard that does not answer, and must not delay the others. */
  patienceMs?: number;
  /** Requests of one partner that may wait. Callers that are refused at once repeat sooner, and cost more than those that wait. */
  waitingLimit?: number;
}

type Waiting = { start: () => Promise<void>; isWanted: () => boolean };

// One instance for all: capturing a stack for each refusal would help a caller that sends too much.
const REFUSED = new QueueFull('too many requests are waiting');

/**
 * Runs one piece of work at a time. Partners that wait are served in turn, so a partner with many requests delays another partner's
 * request by one piece of work at most. It also keeps the queue of the connection pool short, which blocks the event loop when it
 * is long.
 */
export function createFairQueue({
  answerWithinMs,
  abandonsStarted = true,
  patienceMs = 500,
  waitingLimit = 500,
}: FairQueueOptions) {
  const withPermit = createSemaphore(1, patienceMs);
  /** The waiting items, by partner. The partner that is served next comes first. */
  const queues = new Map<number, Set<Waiting>>();
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || queues.size === 0) return;
    isScheduled = true;
    void withPermit(async () => {
      isScheduled = false;
      const waiting = next();
      schedule();
      await waiting?.start();
    });
  }

  function leave(partnerId: number, waiting: Waiting): void {
    const queue = queues.get(partnerId);
    queue?.delete(waiting);
    if (queue?.size === 0) queues.delete(partnerId);
  }

  /** Removes and returns the next work. Skips work whose caller has left. */
  function next(): Waiting | undefined {
    for (const [partnerId, queue] of queues)
      for (const waiting of queue) {
        leave(partnerId, waiting);
        // The partner goes to the end.
        if (queues.delete(partnerId)) queues.set(partnerId, queue);
        if (waiting.isWanted()) return waiting;
      }
    return undefined;
  }

  /**
   * Runs the partner's work, and settles as the work does. Rejects with QueueFull if too many requests of the
   * partner wait already, or if the work has not ended in time. Work whose caller has left is not run.
   */
  return function run<Result>(
    partnerId: number,
    isWanted: () => boolean,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const start = () => {
      if (!abandonsStarted) clearTimeout(timer);
      return work().then(resolve, reject);
    };
    const waiting: Waiting = { isWanted, start };
    const queue = queues.getOrInsertComputed(partnerId, () => new Set());
    if (queue.size >= waitingLimit) return Promise.reject(REFUSED);
    queue.add(waiting);
    const timer = setTimeout(() => {
      leave(partnerId, waiting);
      reject(REFUSED);
    }, answerWithinMs);
    schedule();
    return promise.finally(() => clearTimeout(timer));
  };
}
