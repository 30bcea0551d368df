import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PostgresBinaries } from './binaries.ts';
import { handOver, spawnAs, type RunAs } from './run-as.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

export const SUPERUSER = 'floodgate';
export const DATABASE = 'floodgate';

export interface ClusterOptions {
  dataDir: string;
  binaries: PostgresBinaries;
  runAs: RunAs;
  /** What the programs print goes here. */
  logFd: number;
  /** Whether a power failure right after this may damage what it made: for tests. */
  fast: boolean;
  signal?: AbortSignal | undefined;
}

/** Makes sure that the directory holds a complete cluster with our database. Returns its password. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { dataDir, runAs } = options;
  const passwordFile = `${dataDir}.password`;
  const isNew = !isCluster(dataDir);
  if (isNew) await writePassword(passwordFile);
  await handOver(runAs, passwordFile).catch(() => undefined); // that it is missing is said below
  if (isNew) await createCluster(options, passwordFile);
  await handOver(runAs, dataDir);
  return readFile(passwordFile, 'utf8').catch((cause: unknown) => {
    throw new EmbeddedPostgresError(`the database's password cannot be read from ${passwordFile}`, { cause });
  });
}

function isCluster(dataDir: string): boolean {
  return ['PG_VERSION', 'global/pg_control'].every((file) => existsSync(path.join(dataDir, file)));
}

async function writePassword(passwordFile: string): Promise<void> {
  await rm(passwordFile, { force: true });
  const password = randomBytes(24).toString('hex');
  await writeFile(passwordFile, password, { flag: 'wx', mode: 0o600, flush: true });
}

// Built beside its place and renamed when complete, so one that was interrupted is never taken for a cluster.
async function createCluster(options: ClusterOptions, passwordFile: string): Promise<void> {
  const { dataDir, runAs } = options;
  await removeLeftovers(dataDir);
  const temporary = await mkdtemp(`${dataDir}.initdb-`);
  try {
    await handOver(runAs, temporary);
    await initialize(options, temporary, passwordFile);
    await moveAside(dataDir);
    await rename(temporary, dataDir);
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function initialize(options: ClusterOptions, directory: string, passwordFile: string): Promise<void> {
  const { binaries, fast } = options;
  const access = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const content = ['--encoding=UTF8', '--locale=C', '--no-instructions', ...(fast ? ['--no-sync'] : [])];
  await run(options, binaries.initdb, ['-D', directory, ...access, ...content]);
  const single = ['--single', '-D', directory, ...(fast ? ['-F'] : []), 'postgres'];
  await run(options, binaries.postgres, single, `create database ${DATABASE}\n`);
}

async function run(options: ClusterOptions, program: string, args: string[], input = ''): Promise<void> {
  const { runAs, logFd, signal } = options;
  const child = await spawnAs(runAs, program, args, ['pipe', logFd, logFd]);
  const abort = () => child.kill();
  signal?.addEventListener('abort', abort);
  child.stdin?.on('error', () => undefined).end(input);
  await once(child, 'exit');
  signal?.removeEventListener('abort', abort);
  signal?.throwIfAborted();
  if (child.exitCode === 0) return;
  throw new EmbeddedPostgresError(
    `${path.basename(program)} failed (${child.signalCode ?? `exit code ${child.exitCode}`})`,
  );
}

async function removeLeftovers(dataDir: string): Promise<void> {
  const directory = path.dirname(dataDir);
  const prefix = `${path.basename(dataDir)}.initdb-`;
  const leftovers = (await readdir(directory)).filter((name) => name.startsWith(prefix));
  for (const name of leftovers)
    await rm(path.join(directory, name), { recursive: true, force: true, maxRetries: 3 });
}

// Whatever is in a directory that holds no complete cluster is kept: it is not ours to delete.
async function moveAside(dataDir: string): Promise<void> {
  const content = await readdir(dataDir).catch(() => undefined);
  if (content?.length === 0) await rm(dataDir, { recursive: true });
  else if (content) await rename(dataDir, `${dataDir}.incomplete-${Date.now()}`);
}
