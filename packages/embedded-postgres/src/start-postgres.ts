import { spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, ping } from '@floodgate/database';
import { DATABASE, ensureCluster, SUPERUSER } from './cluster.ts';
import { stopOrphan } from './orphan.ts';
import { EmbeddedPostgresError, findPrograms, spawnProgram } from './programs.ts';

export interface PostgresOptions {
  /** Created where it is missing; the password is next to it, in `<dataDir>.password`. */
  dataDir: string;
  /** The log of Postgres is appended here. */
  logFile: string;
  /** Default: one that is free. */
  port?: number;
  /** Server settings. `fsync: 'off'`, for tests, also makes the first start faster. */
  settings?: Record<string, string>;
  /** Where other programs of PostgreSQL are than the embedded ones. */
  programsDir?: string | undefined;
  /** Gives the start up: what was started is stopped, and the signal's reason thrown. */
  signal?: AbortSignal | undefined;
}

/** A running Postgres server that belongs to this process. */
export type PostgresServer = ReturnType<typeof describeServer>;
export type Exit = Awaited<PostgresServer['exited']>;

const PORT_TAKEN = 'could not create any TCP/IP sockets';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 20;

/**
 * Starts Postgres on a data directory, which is initialized if need be, and resolves when it accepts connections: from this
 * machine only, with a generated password, and as durable as Postgres is by default. The caller makes sure that nobody alive
 * uses the directory: a server that a killed process left running there is stopped first. Throws EmbeddedPostgresError. There are
 * several `attempts` because another process may take a free port before Postgres does.
 */
export async function startPostgres(options: PostgresOptions, attempts = 5): Promise<PostgresServer> {
  const dataDir = path.resolve(options.dataDir);
  await mkdir(path.dirname(dataDir), { recursive: true });
  await stopOrphan(dataDir);
  return launch({ ...options, dataDir }).catch((error: Error) => {
    const isPortTaken = options.port === undefined && error.message.includes(PORT_TAKEN);
    if (!isPortTaken || attempts === 1) throw error;
    return startPostgres(options, attempts - 1);
  });
}

async function launch({ dataDir, logFile, settings = {}, signal, ...options }: PostgresOptions) {
  await using log = await open(logFile, 'a', 0o600);
  const { size: logStart } = await log.stat();
  try {
    const programs = await findPrograms(dataDir, options.programsDir);
    const fast = settings['fsync'] === 'off';
    const password = await ensureCluster({ dataDir, programs, logFd: log.fd, fast, signal });
    const port = options.port ?? (await claimFreePort(0, '127.0.0.1'));
    const stdio = ['ignore' as const, log.fd, log.fd];
    const child = await spawnProgram(programs, 'postgres', serverArguments(dataDir, port, settings), stdio);
    const server = describeServer(child, port, password, programs.pg_ctl);
    await waitUntilReady(server, signal).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return server;
  } catch (error) {
    throw error instanceof EmbeddedPostgresError ? await explain(error, logFile, logStart) : error;
  }
}

function serverArguments(dataDir: string, port: number, settings: Record<string, string>): string[] {
  // No socket file: its path may be too long for the system, and loopback with a password is enough.
  const fixed = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
  const all = Object.entries({ ...settings, ...fixed });
  return ['-D', dataDir, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

function describeServer(child: ChildProcess, port: number, password: string, pgCtl: string) {
  const exited = once(child, 'exit').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  const hasEnded = () => (child.exitCode ?? child.signalCode) !== null;
  // Windows knows no signals: Postgres has its own there.
  const send = (signal: NodeJS.Signals) =>
    process.platform === 'win32'
      ? spawnSync(pgCtl, ['kill', signal.slice('SIG'.length), String(child.pid)], { windowsHide: true })
      : child.kill(signal);
  const end = async (...signals: NodeJS.Signals[]) => {
    const timers = signals.map((signal, index) => setTimeout(send, index * STOP_TIMEOUT_MS, signal));
    await exited;
    timers.forEach(clearTimeout);
  };
  const stop = () => end('SIGINT', 'SIGQUIT', 'SIGKILL');
  return {
    port,
    /** The superuser's URL, password included, of a database (default: the one that was made for Floodgate). */
    url: (database = DATABASE) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`,
    /** Resolves when the server has ended, for whatever reason. */
    exited,
    hasEnded,
    /** Ends connections and stops, with everything on disk. Safe to call twice. */
    stop,
    /** Stops at once, as in a crash: the next start has to recover. */
    kill: () => end('SIGQUIT', 'SIGKILL'),
    [Symbol.asyncDispose]: stop,
  };
}

async function waitUntilReady(server: PostgresServer, signal?: AbortSignal): Promise<void> {
  const connectionString = server.url();
  await using db = connect({ connectionString, applicationName: 'floodgate-start', maxConnections: 1 });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await ping(db))) {
    signal?.throwIfAborted();
    if (server.hasEnded()) throw new EmbeddedPostgresError('it ended at once');
    if (Date.now() > deadline)
      throw new EmbeddedPostgresError(`not ready after ${START_TIMEOUT_MS / 1000} s`);
    await delay(POLL_MS);
  }
}

/** Returns the port, or a free one for 0. Throws the system's reason (EADDRINUSE, EACCES, …) if nobody can listen on it now. */
export async function claimFreePort(port: number, host: string): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const { port: claimed } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return claimed;
}

/** Adds to a failure what Postgres wrote about it, and where the rest of that is. */
async function explain(cause: EmbeddedPostgresError, logFile: string, logStart: number) {
  const written = (await readFile(logFile)).subarray(logStart).toString();
  const lines = written.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.find((line) => SEVERE.test(line) && !IN_PASSING.test(line)) ?? lines.at(-1);
  const reason = cause.message + (telling ? `: ${telling.replace(SEVERE, '')}` : '');
  return new EmbeddedPostgresError(`Postgres does not start: ${reason} (log: ${logFile})`, { cause });
}

// Its answer to connections that come too early.
const IN_PASSING = /the database system is (?:starting up|shutting down|not yet accepting)/;
const SEVERE = /^.*?\b(?:FATAL|PANIC|error): +/;
