import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether a process with this id exists, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * The command line of a process. Process ids are used again, so a pid that was noted in a file means
 * something only together with this. Empty for one that has ended; undefined where the system does not tell.
 */
export function commandLineOf(pid: number): string | undefined {
  if (!isRunning(pid)) return '';
  if (process.platform === 'linux') return readProc(pid);
  const { status, stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
}

function readProc(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return undefined;
  }
}
