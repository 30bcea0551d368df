import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load, LoadResult } from './load.ts';

/**
 * Generates a load in a separate process, so that the caller's work and garbage are not measured. Throws if that process fails.
 */
export async function generateLoad(load: Load, program = 'main.ts'): Promise<LoadResult> {
  const child = fork(new URL(program, import.meta.url), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // The log consists of typed arrays.
    serialization: 'advanced',
  });
  const exited = once(child, 'exit');
  child.send(load);
  const [result] = (await Promise.race([once(child, 'message'), exited.then(() => [null])])) as [
    LoadResult | null,
  ];
  await exited;
  if (!result) throw new Error(`the load generator ended with ${child.exitCode}`);
  return result;
}
