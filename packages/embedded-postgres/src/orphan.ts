import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@floodgate/service/failure';

const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 20;

/**
 * Returns the command line of a process, empty if the process has ended or the system hides it. Systems reuse pids, so a pid from a
 * file identifies a process only together with its command line.
 */
export function commandLineOf(pid: number): string {
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
 * Stops a Postgres that a killed process left running on this data directory. Removes a postmaster.pid that names another process:
 * Postgres would treat any process of the same user as a postmaster and refuse to start.
 */
export async function stopOrphan(dataDir: string): Promise<void> {
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
