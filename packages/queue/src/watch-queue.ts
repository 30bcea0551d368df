import type { Logger } from '@floodgate/service';
import { reasonOf } from '@floodgate/service/failure';
import { UnsafeQueueError, type QueueBackend } from './backend.ts';

/** What producer and consumer tell about their connection. */
type Watchable = Pick<QueueBackend, 'problem' | 'verify'>;

const POLL_INTERVAL_MS = 500;
/** How often it is looked at while it is up: its settings may be changed under open connections. */
const VERIFY_INTERVAL_MS = 5_000;
const UNDEFINED_TABLE = '42P01';

/**
 * Verifies the queue now, now and then, and whenever it comes back, and logs every change once. Resolves after the first
 * look, up or down: a queue that is away is no reason not to start. Throws UnsafeQueueError where it could lose jobs, or
 * was never prepared. The returned function ends the watch.
 */
export async function watchQueue(queue: Watchable, log: Pick<Logger, 'warn' | 'error'>): Promise<() => void> {
  let known: string | null = null;
  const tell = (problem: string | null, unsafe?: Error) => {
    if (problem === known) return;
    known = problem;
    const state = problem === null ? 'up' : 'down';
    // No reason to end: the API needs no queue, and what is lost there the workers' rounds find.
    if (unsafe) log.error({ err: unsafe }, 'the queue could lose jobs');
    else log.warn({ queue: state, problem }, `the queue is ${state}`);
  };
  tell(await lookAt(queue));
  let isLooking = false;
  let lookedAt = performance.now();
  const timer = setInterval(() => {
    // While it is not up, always: a connection does not show that the server was mended.
    const isUp = known === null && queue.problem() === null;
    if (isLooking || (isUp && performance.now() - lookedAt <= VERIFY_INTERVAL_MS)) return;
    isLooking = true;
    lookedAt = performance.now();
    void lookAt(queue)
      .then(tell, (error: Error) => tell(error.message, error))
      .finally(() => (isLooking = false));
  }, POLL_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** Returns why the queue is down; null where it is up. */
async function lookAt(queue: Watchable): Promise<string | null> {
  try {
    await queue.verify();
    return null;
  } catch (error) {
    if (error instanceof UnsafeQueueError) throw error;
    if ((error as { code?: string }).code !== UNDEFINED_TABLE) return queue.problem() ?? reasonOf(error);
    throw new UnsafeQueueError('the queue is not prepared; run "npm run floodgate -- migrate"', {
      cause: error,
    });
  }
}
