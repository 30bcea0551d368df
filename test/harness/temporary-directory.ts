import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Creates an empty directory with mode 0700. Disposing of it deletes it. */
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
