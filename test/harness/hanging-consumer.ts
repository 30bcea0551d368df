import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { handled, openConsumer, parseQueueUrl } from '@floodgate/queue';
import { finalizeBatchesJob } from '@floodgate/registrations';

/** Starts a process whose consumer never ends a job. The process runs this file. */
export async function startHangingConsumer(queue: {
  url: string;
  namespace: string;
}): Promise<{ kill(): Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), queue.url, queue.namespace], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

if (import.meta.main) {
  const [url, namespace] = process.argv.slice(2);
  const consumer = openConsumer({
    target: parseQueueUrl(url!),
    namespace: namespace!,
    jobs: [handled({ ...finalizeBatchesJob, concurrency: 1 }, () => new Promise<'done'>(() => {}))],
    onJobFailed: () => {},
    onError: () => {},
  });
  await consumer.verify();
  process.send!('ready');
}
