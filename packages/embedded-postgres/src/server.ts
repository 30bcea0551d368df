import { spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, ping } from '@floodgate/database';
import { DATABASE, SUPERUSER } from './cluster.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** How a process ended. */
export interface Exit {
  code: number | null;
  signal: string | null;
}

/** A running Postgres server that belongs to this process. */
export interface PostgresServer extends AsyncDisposable {
  port: number;
  /** The superuser's URL, password included, of a database (default: the one that was made for Floodgate). */
  url(database?: string): string;
  /** Resolves when the server has ended, for whatever reason. */
  exited: Promise<Exit>;
  /** Ends connections and stops, with everything on disk. Safe to call twice. */
  stop(): Promise<void>;
  /** Stops at once, as in a crash: the next start has to recover. */
  kill(): Promise<void>;
}

type Shutdown = 'SIGINT' | 'SIGQUIT';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 20;

/** Wraps a postmaster that was just spawned. */
export function describeServer(
  child: ChildProcess,
  server: { port: number; password: string; pgCtl: string },
): PostgresServer {
  const { port, password, pgCtl } = server;
  const exited = once(child, 'exit').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  const end = async (first: Shutdown) => {
    sendSignal(child, pgCtl, first);
    const timers = [
      setTimeout(() => sendSignal(child, pgCtl, 'SIGQUIT'), STOP_TIMEOUT_MS),
      setTimeout(() => child.kill('SIGKILL'), 2 * STOP_TIMEOUT_MS),
    ];
    await exited;
    timers.forEach(clearTimeout);
  };
  const stop = () => end('SIGINT');
  return {
    port,
    url: (database = DATABASE) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`,
    exited,
    stop,
    kill: () => end('SIGQUIT'),
    [Symbol.asyncDispose]: stop,
  };
}

function sendSignal(child: ChildProcess, pgCtl: string, signal: Shutdown): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform !== 'win32') child.kill(signal);
  // Windows knows no signals: Postgres has its own there.
  else spawnSync(pgCtl, ['kill', signal.slice('SIG'.length), String(child.pid)], { windowsHide: true });
}

/** Resolves when the server accepts connections. Throws EmbeddedPostgresError, or the signal's reason. */
export async function waitUntilReady(server: PostgresServer, signal?: AbortSignal): Promise<void> {
  const connectionString = server.url();
  await using db = connect({ connectionString, applicationName: 'floodgate-start', maxConnections: 1 });
  const deadline = Date.now() + START_TIMEOUT_MS;
  let hasEnded = false;
  void server.exited.then(() => (hasEnded = true));
  while (!(await ping(db))) {
    signal?.throwIfAborted();
    if (hasEnded) throw new EmbeddedPostgresError('it ended at once');
    if (Date.now() > deadline)
      throw new EmbeddedPostgresError(`not ready after ${START_TIMEOUT_MS / 1000} s`);
    await delay(POLL_MS);
  }
}
