import { withDeadline } from '@floodgate/service/timing';
import type { Producer } from '@floodgate/queue';
import type { QueueSettings } from './settings.ts';

const CLOSE_DEADLINE_MS = 500;

/**
 * Opens the queue for `work` and closes it afterwards. Gives up after `deadlineMs`: a queue that takes
 * connections and never answers must not hang a command. Rejects with why the queue is down, if it is.
 */
export async function withQueue<Result>(
  settings: QueueSettings,
  deadlineMs: number,
  work: (queue: Producer) => Promise<Result>,
): Promise<Result> {
  let connectionError: Error | undefined;
  const onError = (error: Error) => (connectionError = error);
  const { Producer } = await import('@floodgate/queue');
  const queue = new Producer({ ...settings, onError });
  try {
    return await withDeadline(work(queue), deadlineMs, () => {
      throw new Error('no answer');
    });
  } catch (error) {
    // What the connection met says more than "no answer".
    throw connectionError ?? error;
  } finally {
    await withDeadline(queue.close(), CLOSE_DEADLINE_MS, () => undefined).catch(() => undefined);
  }
}
