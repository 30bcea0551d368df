import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Failure } from '@floodgate/service/failure';
import { handOver, spawnProgram, type Program, type Programs } from './programs.ts';
import type { PostgresOptions } from './start-postgres.ts';

export const SUPERUSER = 'floodgate';
export const DATABASE = 'floodgate';
const ALL = { recursive: true, force: true, maxRetries: 3 };

/** `logFd` receives the output of the programs. */
type ClusterOptions = PostgresOptions & { programs: Programs; logFd: number };

/** Creates the cluster and its database unless the directory holds them. Returns the password. */
export async function ensureCluster(options: ClusterOptions) {
  const { dataDir, programs } = options;
  const secret = `${dataDir}.password`;
  if (!existsSync(path.join(dataDir, 'PG_VERSION'))) await createCluster(options, secret);
  await handOver(programs, dataDir);
  return readFile(secret, 'utf8').catch((cause: unknown) => {
    throw new Failure(`cannot read the database's password from ${secret}`, { cause });
  });
}

// Creates the cluster under a temporary name and renames it when complete, so that an interrupted one is never used.
async function createCluster(options: ClusterOptions, secret: string) {
  const { dataDir, programs, programsDir, settings } = options;
  const temporary = `${dataDir}.initdb`;
  const password = randomBytes(24).toString('hex');
  for (const file of [temporary, secret]) await rm(file, ALL);
  try {
    await mkdir(temporary, { mode: 0o700 });
    await writeFile(secret, password, { flag: 'wx', mode: 0o600, flush: true });
    for (const file of [temporary, secret]) await handOver(programs, file);
    const access = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${secret}`];
    // Sorts by bytes, as C does, and knows the case of every letter. Programs that are not embedded may be
    // older than this locale.
    const locale = programsDir ? [] : ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const content = ['--encoding=UTF8', '--locale=C', ...locale, '--no-instructions'];
    const [noSync, noFsync] = settings?.['fsync'] === 'off' ? [['--no-sync'], ['-F']] : [[], []];
    await run(options, 'initdb', ['-D', temporary, ...access, ...content, ...noSync]);
    const single = ['--single', '-D', temporary, ...noFsync, 'postgres'];
    await run(options, 'postgres', single, `create database ${DATABASE}\n`);
    // Keeps the files of a directory without a complete cluster: they belong to the user.
    await rename(dataDir, `${dataDir}.incomplete-${Date.now()}`).catch(() => undefined);
    await rename(temporary, dataDir);
  } finally {
    await rm(temporary, ALL);
  }
}

async function run(options: ClusterOptions, name: Program, args: string[], input = '') {
  const { programs, logFd, signal } = options;
  const child = await spawnProgram(programs, name, args, ['pipe', logFd, logFd]);
  signal?.addEventListener('abort', () => child.kill());
  child.stdin?.on('error', () => undefined).end(input);
  await once(child, 'exit');
  signal?.throwIfAborted();
  if (child.exitCode === 0) return;
  const end = child.signalCode ?? `exit code ${child.exitCode}`;
  throw new Failure(`${path.basename(programs[name])} failed (${end})`);
}
