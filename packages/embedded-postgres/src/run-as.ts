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
  /** What goes before a program on the command line. */
  prefix: readonly string[];
  /** What `spawn` needs to know. */
  identity: Partial<Account>;
}

// Nothing of this process's environment: PGPORT, PGOPTIONS or LD_LIBRARY_PATH would change what Postgres does.
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Decides how to start the programs for this data directory. Its parent must exist. */
export async function chooseRunAs(program: string, dataDir: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return { prefix: [], identity: {} };
  const account = await chooseAccount(dataDir);
  if ([program, path.dirname(dataDir)].every((file) => canReach(account, file))) {
    return { account, prefix: [], identity: account };
  }
  return { account, prefix: reachingPrefix(account), identity: {} };
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
  const [command = program, ...rest] = [...runAs.prefix, program, ...args];
  // The current directory may be closed to the other account.
  const cwd = path.parse(program).root;
  const options = { ...runAs.identity, env: ENVIRONMENT, cwd, stdio, detached: true, windowsHide: true };
  const child = spawn(command, rest, options);
  await once(child, 'spawn').catch((cause: Error) => {
    throw new EmbeddedPostgresError(`${program} cannot be run: ${cause.message}`, { cause });
  });
  return child;
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

function canReach(account: Account, file: string): boolean {
  return spawnSync('test', ['-x', file], { ...account, cwd: '/', env: ENVIRONMENT }).status === 0;
}

/**
 * For programs or data below a directory that only root may enter (/root, or a temporary directory of mode
 * 0700): another user id that keeps two of root's capabilities, those to pass file permissions by. Nothing more
 * is gained with them than root had anyway.
 */
function reachingPrefix({ uid, gid }: Account): string[] {
  const capabilities = '+dac_override,+dac_read_search';
  const options = [
    '--securebits=+no_setuid_fixup',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    `--inh-caps=${capabilities}`,
    `--ambient-caps=${capabilities}`,
  ];
  const { status } = spawnSync('setpriv', [...options, 'true'], { cwd: '/', env: ENVIRONMENT });
  if (status === 0) return ['setpriv', ...options];
  throw new EmbeddedPostgresError(
    'Postgres refuses to run as root, and no other user may enter this directory; start Floodgate as an ordinary ' +
      'user, or move it and DATA_DIR to where every user may look',
  );
}
