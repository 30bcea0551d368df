import { mkdir, open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { findPostgresBinaries } from './binaries.ts';
import { findFreePort } from './free-port.ts';
import { ensureCluster } from './cluster.ts';
import { stopOrphan } from './orphan.ts';
import { describeServer, waitUntilReady, type PostgresServer } from './server.ts';
import { chooseRunAs, spawnAs } from './run-as.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

export interface PostgresOptions {
  /** Created where it is missing; the password lies beside it, in `<dataDir>.password`. */
  dataDir: string;
  /** What Postgres has to say is appended here. */
  logFile: string;
  /** Default: one that is free. */
  port?: number;
  /** Server settings. `fsync: 'off'`, for tests, also makes the first start faster. */
  settings?: Record<string, string>;
  /** Gives the start up: what was started is stopped, and the signal's reason thrown. */
  signal?: AbortSignal | undefined;
}

/** Another process may take a free port before Postgres does. */
const PORT_ATTEMPTS = 5;
const PORT_TAKEN = 'could not create any TCP/IP sockets';

/**
 * Starts Postgres on a data directory, which is initialized if need be, and resolves when it accepts
 * connections: from this machine only, with a generated password, and as durable as Postgres is by default.
 * The caller makes sure that nobody alive uses the directory: a server that a killed process left running
 * there is stopped first. Throws EmbeddedPostgresError.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const dataDir = path.resolve(options.dataDir);
  await mkdir(path.dirname(dataDir), { recursive: true });
  await stopOrphan(dataDir);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch({ ...options, dataDir });
    } catch (error) {
      const isPortTaken = error instanceof EmbeddedPostgresError && error.message.includes(PORT_TAKEN);
      if (!isPortTaken || options.port !== undefined || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function launch({ dataDir, logFile, settings = {}, signal, ...options }: PostgresOptions) {
  const log = await open(logFile, 'a', 0o600);
  const { size: logStart } = await stat(logFile);
  try {
    const binaries = await findPostgresBinaries();
    const runAs = await chooseRunAs(binaries.postgres, dataDir);
    const fast = settings['fsync'] === 'off';
    const password = await ensureCluster({ dataDir, binaries, runAs, logFd: log.fd, fast, signal });
    const port = options.port ?? (await findFreePort());
    const stdio = ['ignore' as const, log.fd, log.fd];
    const child = await spawnAs(runAs, binaries.postgres, serverArguments(dataDir, port, settings), stdio);
    const server = describeServer(child, { port, password, pgCtl: binaries.pg_ctl });
    await waitUntilReady(server, signal).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return server;
  } catch (error) {
    throw error instanceof EmbeddedPostgresError ? await explain(error, logFile, logStart) : error;
  } finally {
    await log.close();
  }
}

function serverArguments(dataDir: string, port: number, settings: Record<string, string>): string[] {
  // No socket file: its path may be too long for the system, and loopback with a password is enough.
  const fixed = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
  const all = Object.entries({ ...settings, ...fixed });
  return ['-D', dataDir, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Adds to a failure what Postgres wrote about it, and where the rest of that is. */
async function explain(
  failure: EmbeddedPostgresError,
  logFile: string,
  logStart: number,
): Promise<EmbeddedPostgresError> {
  const written = (await readFile(logFile)).subarray(logStart).toString();
  const lines = written.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.find((line) => SEVERE.test(line) && !IN_PASSING.test(line)) ?? lines.at(-1);
  const reason = telling ? `: ${telling.replace(SEVERE, '')}` : '';
  return new EmbeddedPostgresError(`Postgres does not start: ${failure.message}${reason} (log: ${logFile})`, {
    cause: failure,
  });
}

// What it tells whoever connects too early.
const IN_PASSING = /the database system is (?:starting up|shutting down|not yet accepting)/;
const SEVERE = /^.*?\b(?:FATAL|PANIC|error): +/;
