import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
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
  const signs = ['PG_VERSION', 'global/pg_control'].map((file) => path.join(dataDir, file));
  const isNew = !signs.every(existsSync);
  if (isNew) {
    await rm(passwordFile, { force: true });
    const password = randomBytes(24).toString('hex');
    await writeFile(passwordFile, password, { flag: 'wx', mode: 0o600, flush: true });
  }
  await handOver(programs, passwordFile).catch(() => undefined); // that it is missing is said below
  if (isNew) await createCluster(options, passwordFile);
  await handOver(programs, dataDir);
  return readFile(passwordFile, 'utf8').catch((cause: unknown) => {
    throw new EmbeddedPostgresError(`the database's password cannot be read from ${passwordFile}`, { cause });
  });
}

// Built under a temporary name and renamed when complete, so an interrupted one is never used.
async function createCluster(options: ClusterOptions, passwordFile: string): Promise<void> {
  const { dataDir, programs } = options;
  const temporary = `${dataDir}.initdb`;
  await rm(temporary, REMOVAL);
  try {
    await mkdir(temporary, { mode: 0o700 });
    await handOver(programs, temporary);
    await initialize(options, temporary, passwordFile);
    await moveAside(dataDir);
    await rename(temporary, dataDir);
  } finally {
    await rm(temporary, REMOVAL);
  }
}

async function initialize(options: ClusterOptions, directory: string, passwordFile: string): Promise<void> {
  const access = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const content = [
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...(options.fast ? ['--no-sync'] : []),
  ];
  await run(options, 'initdb', ['-D', directory, ...access, ...content]);
  const single = ['--single', '-D', directory, ...(options.fast ? ['-F'] : []), 'postgres'];
  await run(options, 'postgres', single, `create database ${DATABASE}\n`);
}

async function run(options: ClusterOptions, name: Program, args: string[], input = ''): Promise<void> {
  const { programs, logFd, signal } = options;
  const child = await spawnProgram(programs, name, args, ['pipe', logFd, logFd]);
  const abort = () => child.kill();
  signal?.addEventListener('abort', abort);
  child.stdin?.on('error', () => undefined).end(input);
  await once(child, 'exit');
  signal?.removeEventListener('abort', abort);
  signal?.throwIfAborted();
  if (child.exitCode === 0) return;
  throw new EmbeddedPostgresError(
    `${path.basename(programs[name])} failed (${child.signalCode ?? `exit code ${child.exitCode}`})`,
  );
}

// Keeps the files of a directory without a complete cluster: they are not ours to delete.
async function moveAside(dataDir: string): Promise<void> {
  const content = await readdir(dataDir).catch(() => undefined);
  if (content?.length === 0) await rm(dataDir, { recursive: true });
  else if (content) await rename(dataDir, `${dataDir}.incomplete-${Date.now()}`);
}
