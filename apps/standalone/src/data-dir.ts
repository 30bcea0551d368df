import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Failure, reasonOf } from '@floodgate/service';

/**
 * Creates the directory where it is missing, and locks it until it is disposed of. `wasAbandoned` says that its last user was
 * killed, so that processes of that one may still be about to end. Throws Failure.
 */
export async function openDataDir(directory: string) {
  try {
    await createDirectory(directory);
    return lock(directory);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`DATA_DIR ${directory} cannot be used: ${reasonOf(error)}`, { cause: error });
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

/** A lock that a process writes into a file outlives it. SQLite's is the operating system's, and ends with the process. */
function lock(directory: string) {
  const file = path.join(directory, 'lock.sqlite');
  const wasAbandoned = existsSync(file);
  const lockFile = new DatabaseSync(file, { timeout: 500 });
  const holder = lockFile.prepare('pragma user_version').get()?.['user_version'];
  try {
    lockFile.exec(`pragma user_version = ${process.pid}; begin immediate`);
  } catch (cause) {
    lockFile.close();
    throw new Failure(
      `${directory} is in use by another Floodgate (process ${String(holder)}); stop that one, ` +
        'or choose another directory and port, as in DATA_DIR=.floodgate-2 PORT=3001 npm start',
      { cause },
    );
  }
  const release = () => {
    lockFile.close();
    return rm(file, { force: true });
  };
  return { wasAbandoned, [Symbol.asyncDispose]: release };
}
