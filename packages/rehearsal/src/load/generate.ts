import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load, LoadProgress, LoadResult } from './load.ts';

/**
 * Generates a load in a separate process, so that the caller's work and garbage are not measured. Calls
 * `onProgress` every second. Throws if the process of this program fails.
 */
export async function generateLoad(
  load: Load,
  onProgress?: (progress: LoadProgress) => void,
  program = new URL('main.ts', import.meta.url),
) {
  const child = fork(program, [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // The log consists of typed arrays.
    serialization: 'advanced',
    execArgv: [],
  });
  let result: LoadResult | undefined;
  child.on('message', (message: LoadResult | { progress: LoadProgress }) => {
    if ('progress' in message) onProgress?.(message.progress);
    else result = message;
  });
  child.send(load);
  // Not 'exit': a message can arrive after it.
  await once(child, 'close');
  if (!result) throw new Error(`the load generator ended with ${child.exitCode}`);
  return result;
}
