import { withDeadline } from '@floodgate/service/deadline';
import type { Cli, QueueView } from './cli.ts';
import type { QueueSettings } from './settings.ts';

const CLOSE_DEADLINE_MS = 500;

/**
 * Opens the queue for `work` and closes it afterwards. Gives up after `deadlineMs`: a queue that takes
 * connections and never answers must not hang a command. Rejects with why the queue is down, if it is.
 */
export async function withQueue<Result>(
  cli: Cli,
  settings: QueueSettings,
  deadlineMs: number,
  work: (queue: QueueView) => Promise<Result>,
): Promise<Result> {
  let connectionError: Error | undefined;
  const onError = (error: Error) => (connectionError = error);
  const queue = await cli.openQueue({ ...settings, onError });
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
