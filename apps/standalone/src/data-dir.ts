import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { commandLineOf, isRunning } from '@floodgate/embedded-postgres';
import { Failure } from '@floodgate/service';
import { firstLine } from './failures.ts';

const ATTEMPTS = 5;

/**
 * Creates the directory where it is missing, and locks it until it is disposed of. `wasAbandoned` says that its last user was
 * killed, so that processes of that one may still be about to end. Throws Failure.
 */
export async function openDataDir(directory: string) {
  const lockFile = path.join(directory, 'floodgate.lock');
  try {
    await createDirectory(directory);
    const wasAbandoned = await lock(lockFile);
    return { wasAbandoned, [Symbol.asyncDispose]: () => rm(lockFile, { force: true }) };
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`DATA_DIR ${directory} cannot be used: ${firstLine(error)}`, { cause: error });
  }
}

/** Writes a file that only its owner may read, whole or not at all. */
export async function writePrivateFile(file: string, content: string): Promise<void> {
  const temporary = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, content, { mode: 0o600, flag: 'wx' });
  await rename(temporary, file);
}

// Not mkdir's own `recursive`: where the parent exists and still answers ENOENT (/proc), that never returns.
async function createDirectory(directory: string): Promise<void> {
  if (existsSync(directory)) return;
  await createDirectory(path.dirname(directory));
  await mkdir(directory).catch((error: unknown) => {
    if (!existsSync(directory)) throw error; // another process may have made it
  });
}

/** Returns whether a stale lock had to be taken over. */
async function lock(lockFile: string): Promise<boolean> {
  const content = `${process.pid}\n${commandLineOf(process.pid) ?? ''}\n`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      await writeFile(lockFile, content, { flag: 'wx' });
      return attempt > 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [pid, command = ''] = (await readFile(lockFile, 'utf8').catch(() => '')).split('\n');
    if (isStillThere(Number(pid), command)) {
      throw new Failure(
        `${path.dirname(lockFile)} is in use by another Floodgate (process ${pid}); stop that one, ` +
          'or choose another directory and port, as in DATA_DIR=.floodgate-2 PORT=3001 npm start',
      );
    }
    await rm(lockFile, { force: true });
  }
  throw new Failure(`${lockFile} cannot be locked`);
}

// After a reboot, or in the next container, the same process id is likely to be somebody else's, or ours.
function isStillThere(pid: number, command: string): boolean {
  if (!(pid > 0) || pid === process.pid || !isRunning(pid)) return false;
  return commandLineOf(pid) === undefined || commandLineOf(pid) === command;
}
