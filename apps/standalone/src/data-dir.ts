import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Failure, reasonOf } from '@floodgate/service';

/**
 * Creates the directory if it is missing, and locks it. Disposing of the result unlocks it. `wasAbandoned`
 * means that the last Floodgate here was killed: its services may still be stopping. Throws Failure.
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

/** Writes a file atomically. Only its owner can read it. */
export async function writePrivateFile(file: string, content: string) {
  const temporary = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, content, { mode: 0o600, flag: 'wx' });
  await rename(temporary, file);
}

// `recursive` of mkdir never returns if the parent exists but answers ENOENT, as /proc does.
async function createDirectory(directory: string) {
  if (existsSync(directory)) return;
  await createDirectory(path.dirname(directory));
  await mkdir(directory).catch((error: unknown) => {
    if (!existsSync(directory)) throw error; // another process may have created it
  });
}

/**
 * Locks by SQLite: the operating system releases its lock when the process ends. A pid in a file would
 * outlive the process.
 */
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
      `${directory} is in use by another Floodgate (process ${String(holder)}); stop it, ` +
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
