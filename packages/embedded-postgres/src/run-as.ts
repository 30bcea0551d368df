import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

export interface Account {
  uid: number;
  gid: number;
}

/** How PostgreSQL's programs are started. They refuse to run as root, so root starts them as somebody else. */
export interface RunAs {
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

/** Decides how to start the programs for this data directory. Its parent must exist. Throws EmbeddedPostgresError. */
export async function chooseRunAs(program: string, dataDir: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const account = await chooseAccount(dataDir);
  const ways = [[], passingPermissions(account)].map((prefix) => ({ account, prefix }));
  const found = ways.find((runAs) => canReach(runAs, program) && canReach(runAs, path.dirname(dataDir)));
  if (found) return found;
  throw new EmbeddedPostgresError(
    'Postgres refuses to run as root, and no other user may enter this directory; start Floodgate as an ordinary ' +
      'user, or move it and DATA_DIR to where every user may look',
  );
}

/**
 * Starts a PostgreSQL program in a process group of its own, out of reach of a terminal's Ctrl-C.
 * Throws EmbeddedPostgresError where it cannot be executed.
 */
export async function spawnAs(
  runAs: RunAs,
  program: string,
  args: readonly string[],
  stdio: StdioOptions,
): Promise<ChildProcess> {
  const { command, rest, options } = commandOf(runAs, program, args);
  const child = spawn(command, rest, { ...options, stdio, detached: true, windowsHide: true });
  await once(child, 'spawn').catch((cause: Error) => {
    throw new EmbeddedPostgresError(`${program} cannot be run: ${cause.message}`, { cause });
  });
  return child;
}

function commandOf({ account, prefix }: RunAs, program: string, args: readonly string[]) {
  const [command = program, ...rest] = [...prefix, program, ...args];
  // The current directory may be closed to the other account.
  const options = { env: ENVIRONMENT, cwd: path.parse(process.execPath).root };
  return { command, rest, options: prefix.length > 0 ? options : { ...options, ...account } };
}

/** Gives a file, or a directory with all that it holds, to the account. */
export async function handOver(runAs: RunAs, file: string): Promise<void> {
  if (!runAs.account) return;
  const { uid, gid } = runAs.account;
  const found = await stat(file);
  if (found.uid === uid) return;
  const inside = found.isDirectory() ? await readdir(file, { recursive: true }) : [];
  for (const name of ['', ...inside]) await chown(path.join(file, name), uid, gid);
}

async function chooseAccount(dataDir: string): Promise<Account> {
  const owner = await stat(dataDir).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const name of ['postgres', 'nobody']) {
    const found = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts);
    if (found) return { uid: Number(found[1]), gid: Number(found[2]) };
  }
  throw new EmbeddedPostgresError('Postgres refuses to run as root; start Floodgate as an ordinary user');
}

function canReach(runAs: RunAs, file: string): boolean {
  const { command, rest, options } = commandOf(runAs, 'test', ['-x', file]);
  return spawnSync(command, rest, options).status === 0;
}

/**
 * For programs or data below a directory that only root may enter (/root, or a temporary directory of mode 0700): the
 * account keeps the one capability of root's that passes file permissions by. `spawn` alone would drop it.
 */
function passingPermissions({ uid, gid }: Account): string[] {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const kept = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return ['setpriv', ...identity, ...kept];
}
