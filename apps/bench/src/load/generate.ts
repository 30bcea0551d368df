import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Load, LoadResult } from './load.ts';

/**
 * Generates a load from a process of its own, so that neither the caller's work nor its garbage is measured with it.
 * Throws where that process fails.
 */
export async function generateLoad(load: Load, program = 'main.ts'): Promise<LoadResult> {
  const child = fork(new URL(program, import.meta.url), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // The log is typed arrays.
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
