import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EmbeddedPostgresError, handOver, spawnProgram, type Program, type Programs } from './programs.ts';

export const SUPERUSER = 'floodgate';
export const DATABASE = 'floodgate';
const REMOVAL = { recursive: true, force: true, maxRetries: 3 };

interface ClusterOptions {
  dataDir: string;
  programs: Programs;
  /** Receives the output of the programs. */
  logFd: number;
  /** Whether a power failure right after this may damage what it made: for tests. */
  fast: boolean;
  signal?: AbortSignal | undefined;
}

/** Makes sure that the directory holds a complete cluster with our database. Returns its password. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { dataDir, programs } = options;
  const passwordFile = `${dataDir}.password`;
  if (!existsSync(path.join(dataDir, 'PG_VERSION'))) await createCluster(options, passwordFile);
  await handOver(programs, dataDir);
  return readFile(passwordFile, 'utf8').catch((cause: unknown) => {
    throw new EmbeddedPostgresError(`the database's password cannot be read from ${passwordFile}`, { cause });
  });
}

// Built under a temporary name and renamed when complete, so an interrupted one is never used.
async function createCluster(options: ClusterOptions, passwordFile: string): Promise<void> {
  const { dataDir, programs, fast } = options;
  const temporary = `${dataDir}.initdb`;
  const password = randomBytes(24).toString('hex');
  for (const file of [temporary, passwordFile]) await rm(file, REMOVAL);
  try {
    await mkdir(temporary, { mode: 0o700 });
    await writeFile(passwordFile, password, { flag: 'wx', mode: 0o600, flush: true });
    for (const file of [temporary, passwordFile]) await handOver(programs, file);
    const access = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    const content = ['--encoding=UTF8', '--locale=C', '--no-instructions', ...(fast ? ['--no-sync'] : [])];
    await run(options, 'initdb', ['-D', temporary, ...access, ...content]);
    const single = ['--single', '-D', temporary, ...(fast ? ['-F'] : []), 'postgres'];
    await run(options, 'postgres', single, `create database ${DATABASE}\n`);
    // Files of a directory without a complete cluster are kept: they are not ours to delete.
    await rename(dataDir, `${dataDir}.incomplete-${Date.now()}`).catch(() => undefined);
    await rename(temporary, dataDir);
  } finally {
    await rm(temporary, REMOVAL);
  }
}

async function run(options: ClusterOptions, name: Program, args: string[], input = ''): Promise<void> {
  const { programs, logFd, signal } = options;
  const child = await spawnProgram(programs, name, args, ['pipe', logFd, logFd]);
  signal?.addEventListener('abort', () => child.kill());
  child.stdin?.on('error', () => undefined).end(input);
  await once(child, 'exit');
  signal?.throwIfAborted();
  if (child.exitCode === 0) return;
  const end = child.signalCode ?? `exit code ${child.exitCode}`;
  throw new EmbeddedPostgresError(`${path.basename(programs[name])} failed (${end})`);
}
