import { spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, ping } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { DATABASE, ensureCluster, SUPERUSER } from './cluster.ts';
import { findPrograms, POLL_MS, spawnProgram, STOP_TIMEOUT_MS, stopOrphan } from './programs.ts';

export interface PostgresOptions {
  /** Created if it is missing. The password is in `<dataDir>.password`. */
  dataDir: string;
  /** Postgres's log is appended to this file. */
  logFile: string;
  /** By default a free port. */
  port?: number;
  /**
   * Server settings. `fsync: 'off'`, for tests, also makes the first start faster: a power failure may damage
   * the new cluster.
   */
  settings?: Record<string, string>;
  /** Directory of PostgreSQL's programs, in place of the embedded ones. */
  programsDir?: string | undefined;
  /** Cancels the start: everything that was started is stopped, and the signal's reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** A running Postgres server that belongs to this process. */
export type PostgresServer = ReturnType<typeof describeServer>;
export type Exit = Awaited<PostgresServer['exited']>;

const PORT_TAKEN = 'could not create any TCP/IP sockets';
const START_TIMEOUT_MS = 60_000;

/**
 * Starts Postgres on a data directory, which is initialized if necessary. Resolves when the server accepts
 * connections: from this machine only, with a generated password, and with Postgres's default durability. The
 * caller guarantees that no live process uses the directory: a server that a killed process left running
 * there is stopped first. Throws Failure. It makes several `attempts`, because another process may take the
 * free port first.
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

async function launch(options: PostgresOptions) {
  const { dataDir, logFile, signal } = options;
  await using log = await open(logFile, 'a', 0o600);
  const { size } = await log.stat();
  try {
    const programs = await findPrograms(dataDir, options.programsDir);
    const password = await ensureCluster({ ...options, programs, logFd: log.fd });
    const port = options.port ?? (await claimFreePort(0, '127.0.0.1'));
    const args = serverArguments(dataDir, port, options.settings);
    const child = await spawnProgram(programs, 'postgres', args, ['ignore', log.fd, log.fd]);
    const server = describeServer(child, port, password, programs.pg_ctl);
    await waitUntilReady(child, server.url(), signal).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return server;
  } catch (error) {
    throw error instanceof Failure ? await explain(error, logFile, size) : error;
  }
}

function serverArguments(dataDir: string, port: number, settings: PostgresOptions['settings']) {
  // Without a socket file: its path could be too long for the system. Loopback with a password is enough.
  const fixed = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
  const all = Object.entries({ ...settings, ...fixed });
  return ['-D', dataDir, ...all.map(([name, value]) => `--${name}=${value}`)];
}

function describeServer(child: ChildProcess, port: number, password: string, pgCtl: string) {
  const exited = once(child, 'exit').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  // Windows has no signals. There, pg_ctl sends Postgres's own.
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
    /** Returns the superuser's URL of a database, including the password. The default is Floodgate's database. */
    url: (database = DATABASE) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`,
    /** Resolves when the server has ended for any reason. */
    exited,
    /** Ends connections, writes everything to disk and stops. Safe to call twice. */
    stop,
    /** Stops immediately, as in a crash: the next start must recover. */
    kill: () => end('SIGQUIT', 'SIGKILL'),
    [Symbol.asyncDispose]: stop,
  };
}

async function waitUntilReady(child: ChildProcess, connectionString: string, signal?: AbortSignal) {
  await using db = connect({ connectionString, applicationName: 'floodgate-start', maxConnections: 1 });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await ping(db))) {
    signal?.throwIfAborted();
    if ((child.exitCode ?? child.signalCode) !== null) throw new Failure('it ended at once');
    if (Date.now() > deadline) throw new Failure(`not ready after ${START_TIMEOUT_MS / 1000} s`);
    await delay(POLL_MS);
  }
}

/** Returns the port, or a free port for 0. Throws the system's error (EADDRINUSE, EACCES, …) if it cannot be opened. */
export async function claimFreePort(port: number, host: string) {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const { port: claimed } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return claimed;
}

/** Adds the reason in Postgres's log and the log's path to a failure. */
async function explain(cause: Failure, logFile: string, start: number) {
  const written = (await readFile(logFile)).subarray(start).toString();
  const lines = written.split('\n').filter((line) => line.trim() !== '');
  const error = lines.find((line) => SEVERE.test(line) && !EARLY.test(line)) ?? lines.at(-1);
  const reason = cause.message + (error ? `: ${error.replace(SEVERE, '')}` : '');
  return new Failure(`Postgres does not start: ${reason} (log: ${logFile})`, { cause });
}

// Postgres's answer to connections before it is ready.
const EARLY = /the database system is (?:starting up|shutting down|not yet accepting)/;
const SEVERE = /^.*?\b(?:FATAL|PANIC|error): +/;
