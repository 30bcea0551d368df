import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandLineOf, isRunning } from './running-process.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 20;

/**
 * Stops a Postgres that still runs on this data directory, because whoever started it was killed. The caller
 * makes sure that nobody alive is using it. A postmaster.pid that names a different process is removed:
 * Postgres itself would take any process of the same user for another postmaster and not start.
 */
export async function stopOrphan(dataDir: string): Promise<void> {
  const pidFile = path.join(dataDir, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (!(pid > 1) || !isRunning(pid)) return;
  const command = commandLineOf(pid);
  if (command === undefined) return;
  if (!isPostmasterOf(command, dataDir)) return rm(pidFile, { force: true });
  const hasStopped = () => !existsSync(pidFile) || !isRunning(pid);
  if (await signalUntil(hasStopped, pid, 'SIGINT')) return;
  if (await signalUntil(hasStopped, pid, 'SIGQUIT')) return;
  throw new EmbeddedPostgresError(`Postgres (pid ${pid}) still runs on ${dataDir} and does not stop`);
}

function isPostmasterOf(command: string, dataDir: string): boolean {
  return command.includes('postgres') && command.includes(`-D ${dataDir} `);
}

async function signalUntil(done: () => boolean, pid: number, signal: NodeJS.Signals): Promise<boolean> {
  process.kill(pid, signal);
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (!done() && Date.now() < deadline) await delay(POLL_MS);
  return done();
}
