import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './programs.ts';

const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 20;

/** Whether a process with this id exists, of any user. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The command line of a process; empty where it has ended, undefined where the system does not tell. A pid is used again, so one
 * that was noted in a file means something only with this.
 */
export function commandLineOf(pid: number): string | undefined {
  if (!isRunning(pid)) return '';
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return undefined;
    }
  }
  const { status, stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * Stops a Postgres that a killed process left running on this data directory. A postmaster.pid that names a different process
 * is removed: Postgres itself would take any process of the same user for another postmaster and not start.
 */
export async function stopOrphan(dataDir: string): Promise<void> {
  const pidFile = path.join(dataDir, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (!(pid > 1) || !isRunning(pid)) return;
  const command = commandLineOf(pid);
  if (command === undefined) return;
  const isPostmaster = command.includes('postgres') && command.includes(`-D ${dataDir} `);
  if (!isPostmaster) return rm(pidFile, { force: true });
  const hasStopped = () => !existsSync(pidFile) || !isRunning(pid);
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    process.kill(pid, signal);
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (!hasStopped() && Date.now() < deadline) await delay(POLL_MS);
    if (hasStopped()) return;
  }
  throw new EmbeddedPostgresError(`Postgres (pid ${pid}) still runs on ${dataDir} and does not stop`);
}
