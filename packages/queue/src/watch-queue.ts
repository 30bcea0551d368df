import { UnsafeQueueError } from './redis-policy.ts';

/** What producer and consumer tell about their connection. */
interface Watchable {
  isUp(): boolean;
  verify(): Promise<void>;
}

export interface WatchOptions {
  /** The queue could lose jobs, or was never prepared: the process must not go on. */
  onUnsafe: (error: Error) => void;
  /** Told on every change, once. */
  onChange: (state: 'up' | 'down') => void;
}

const POLL_INTERVAL_MS = 500;
const UNDEFINED_TABLE = '42P01';

/**
 * Verifies the queue now and again whenever it comes back. Resolves after the first look, up or down: a queue
 * that is away is no reason not to start. The returned function ends the watch.
 */
export async function watchQueue(
  queue: Watchable,
  { onUnsafe, onChange }: WatchOptions,
): Promise<() => void> {
  let state: 'up' | 'down' = 'up';
  const look = async () => {
    const seen = await lookAt(queue).catch((error: Error) => {
      onUnsafe(error);
      return state;
    });
    if (seen !== state) onChange((state = seen));
  };
  await look();
  const timer = setInterval(() => {
    if (queue.isUp() !== (state === 'up')) void look();
  }, POLL_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

async function lookAt(queue: Watchable): Promise<'up' | 'down'> {
  try {
    await queue.verify();
    return 'up';
  } catch (error) {
    if (error instanceof UnsafeQueueError) throw error;
    if ((error as { code?: string }).code !== UNDEFINED_TABLE) return 'down';
    throw new UnsafeQueueError('the queue is not prepared; run "npm run floodgate -- migrate"', {
      cause: error,
    });
  }
}
