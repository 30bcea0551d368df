import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { handled, openConsumer, parseQueueUrl } from '@floodgate/queue';
import { finalizeBatchesJob } from '@floodgate/registrations';

/** Starts a process whose consumer never ends a job. Its jobs stay locked for `lockMs`. The process runs this file. */
export async function startHangingConsumer(
  queue: { url: string; namespace: string },
  lockMs: number,
): Promise<{ kill(): Promise<void> }> {
  const args = [fileURLToPath(import.meta.url), queue.url, queue.namespace, String(lockMs)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

if (import.meta.main) {
  const [url, namespace, lockMs] = process.argv.slice(2);
  const consumer = openConsumer({
    target: parseQueueUrl(url!),
    namespace: namespace!,
    lockMs: Number(lockMs),
    jobs: [handled({ ...finalizeBatchesJob, concurrency: 1 }, () => new Promise<'done'>(() => {}))],
    onJobFailed: () => {},
    onError: () => {},
  });
  await consumer.verify();
  process.send!('ready');
}
