import { reasonOf } from '@floodgate/service';
import { UnsafeQueueError } from './redis-policy.ts';

/** What producer and consumer tell about their connection. */
interface Watchable {
  problem(): string | null;
  verify(): Promise<void>;
}

export interface WatchOptions {
  /** The queue has become one that could lose jobs, or is not prepared any more. Told on every change, once. */
  onUnsafe: (error: Error) => void;
  /** Told on every change, once; of another reason for being down as well. */
  onChange: (state: 'up' | 'down', problem: string | null) => void;
}

const POLL_INTERVAL_MS = 500;
/** How often it is looked at while it is up: its settings may be changed under open connections. */
const VERIFY_INTERVAL_MS = 5_000;
const UNDEFINED_TABLE = '42P01';

/**
 * Verifies the queue now, now and then, and whenever it comes back. Resolves after the first look, up or down: a queue
 * that is away is no reason not to start. Throws UnsafeQueueError where it could lose jobs, or was never prepared. The
 * returned function ends the watch.
 */
export async function watchQueue(
  queue: Watchable,
  { onUnsafe, onChange }: WatchOptions,
): Promise<() => void> {
  let state = 'up';
  const tell = (problem: string | null) => {
    const seen = problem === null ? 'up' : `down: ${problem}`;
    if (seen !== state) onChange(problem === null ? 'up' : 'down', problem);
    state = seen;
  };
  const tellUnsafe = (error: Error) => {
    if (state !== 'unsafe') onUnsafe(error);
    state = 'unsafe';
  };
  tell(await lookAt(queue));
  let isLooking = false;
  let lookedAt = performance.now();
  const timer = setInterval(() => {
    // While it is not up, too: a connection does not show that the server was mended.
    const isDue =
      state !== 'up' || queue.problem() !== null || performance.now() - lookedAt > VERIFY_INTERVAL_MS;
    if (!isDue || isLooking) return;
    isLooking = true;
    lookedAt = performance.now();
    void lookAt(queue)
      .then(tell, tellUnsafe)
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
