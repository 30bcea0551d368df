import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Makes an empty directory, mode 0700, that is deleted when disposed of. */
export async function temporaryDirectory(): Promise<
  AsyncDisposable & { path: string; file(name: string): string }
> {
  const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-'));
  return {
    path: directory,
    file: (name) => path.join(directory, name),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
