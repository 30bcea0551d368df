import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startPostgres, type PostgresServer } from '@floodgate/embedded-postgres';
import { findFreePort } from '../harness/free-port.ts';
import { connect, ping } from '@floodgate/database';
import { sql } from 'kysely';
import { waitUntil } from '../harness/wait-until.ts';
import { canMountDisk, OwnDisk } from './own-disk.ts';
import { copyAsStandby, followerSettings, promote, waitForStandby } from './standby.ts';

// Small, so that a checkpoint comes now and then, and that the tests' memory holds the disk.
const SETTINGS = {
  // For twice the 64 of these services, as the page about scaling asks: those that a wire has lost count for 90 s more.
  max_connections: '200',
  max_wal_size: '256MB',
  shared_buffers: '64MB',
  wal_keep_size: '256MB',
};
/** Between the end of its recovery and the first connection it looks abandoned for a moment. */
const POLLS_ABANDONED = 100;
const DATA_DIR = 'postgres';
const TRUST = 'host all all 127.0.0.1/32 trust\n';

/** Of a server that is not the embedded one. */
export interface OtherPostgres {
  /** Where its programs are. */
  programsDir?: string;
  /** Beside those of every server here. */
  settings?: Record<string, string>;
}

/** A server that follows another one. */
export interface Standby {
  dataDir: string;
  server: PostgresServer;
}

/** A busy machine needs its time for a new connection. */
export const CONNECT_TIMEOUT_MS = 60_000;

/** A Postgres that can be crashed, frozen, starved and lost. */
export class PostgresUnderTest {
  readonly #directory: string;
  /** Null where this process may not mount one. */
  readonly disk: OwnDisk | null;
  readonly #other: OtherPostgres;
  #dataDir: string;
  #server!: PostgresServer;
  #hasEnded = false;
  #copies = 0;

  private constructor(directory: string, server: PostgresServer, disk: OwnDisk | null, other: OtherPostgres) {
    this.#directory = directory;
    this.#other = other;
    this.#dataDir = path.join(directory, DATA_DIR);
    this.disk = disk;
    this.#adopt(server);
  }

  /** Starts one below `directory`, on a disk of its own where this process may mount one. */
  static async start(directory: string, other: OtherPostgres = {}): Promise<PostgresUnderTest> {
    const mountPoint = path.join(directory, 'disk');
    await mkdir(mountPoint, { recursive: true });
    const disk = canMountDisk() ? new OwnDisk(mountPoint) : null;
    const server = await launch(path.join(mountPoint, DATA_DIR), await findFreePort(), other);
    return new PostgresUnderTest(mountPoint, server, disk, other);
  }

  url(database?: string): string {
    return this.#server.url(database);
  }

  /** Asks nobody on this machine for a password from now on: the servers of a cluster connect to each other. */
  async trustEverybody(): Promise<void> {
    await writeFile(path.join(this.#dataDir, 'pg_hba.conf'), TRUST);
    await using db = connect({
      connectionString: this.url(),
      applicationName: 'settings',
      maxConnections: 1,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
    await sql`select pg_reload_conf()`.execute(db);
  }

  /** Ends it without a checkpoint: what is not in the log is gone. */
  async crash(): Promise<void> {
    await this.#server.kill();
  }

  /** Ends every process of it by SIGKILL: nobody is told. */
  async kill(): Promise<void> {
    this.#signalAll('SIGKILL');
    await this.#server.exited;
  }

  /** Starts it where it has ended, or ends before it has recovered by itself; resolves when it accepts connections. */
  async recover(): Promise<void> {
    await using db = connect({ connectionString: this.url(), applicationName: 'recover', maxConnections: 1 });
    let pollsAbandoned = 0;
    await waitUntil('Postgres accepts connections', async () => {
      if (this.#hasEnded) this.#adopt(await launch(this.#dataDir, this.#server.port, this.#other));
      if (await ping(db)) return true;
      pollsAbandoned = !this.#hasEnded && this.#isAbandoned() ? pollsAbandoned + 1 : 0;
      if (pollsAbandoned === POLLS_ABANDONED) await this.kill();
      return false;
    });
  }

  /**
   * Whether it accepts no connections, and no process of it recovers. Where the disk is full, Postgres 18 can
   * stay like this for ever: its recovery begins, and ends for want of space before the postmaster has noted
   * that it began. An operator restarts it.
   */
  #isAbandoned(): boolean {
    const hasStarted = existsSync(path.join(this.#dataDir, 'postmaster.pid'));
    return hasStarted && !childrenOf(this.#postmaster()).some((pid) => commandOf(pid).includes('startup'));
  }

  #postmaster(): number {
    return Number(readFileSync(path.join(this.#dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  /** Sends a signal to every process of it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#signalAll(signal);
  }

  #signalAll(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    const postmaster = this.#postmaster();
    const pids = [postmaster, ...childrenOf(postmaster)];
    for (const pid of signal === 'SIGCONT' ? pids.toReversed() : pids) sendSignal(pid, signal);
  }

  /** Makes a copy follow it; from then on every commit waits until the copy has it as well. */
  async addStandby(): Promise<Standby> {
    this.#copies += 1;
    const dataDir = path.join(this.#directory, `${DATA_DIR}-${this.#copies}`);
    await copyAsStandby({ dataDir: this.#dataDir, url: this.url() }, dataDir);
    const server = await launch(dataDir, await findFreePort(), { settings: followerSettings(this.url()) });
    await waitForStandby(this.url());
    return { dataDir, server };
  }

  /** Loses this server for good. The standby, promoted, is the one from now on: at another address. */
  async failOver(standby: Standby): Promise<void> {
    await this.crash();
    await promote(standby.server.url());
    this.#dataDir = standby.dataDir;
    this.#adopt(standby.server);
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded) await this.#server.stop();
    this.disk?.unmount();
    await rm(path.dirname(this.#directory), { recursive: true, force: true });
  }

  #adopt(server: PostgresServer): void {
    this.#server = server;
    this.#hasEnded = false;
    void server.exited.then(() => (this.#hasEnded = true));
  }
}

function launch(dataDir: string, port: number, { programsDir, settings }: OtherPostgres) {
  const all = { ...SETTINGS, ...settings };
  return startPostgres({ dataDir, logFile: `${dataDir}.log`, port, programsDir, settings: all });
}

function childrenOf(parent: number): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
  return processes
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([ppid, pid]) => (ppid === parent && pid !== undefined ? [pid] : []));
}

/** Empty where the process has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in the meantime.
  }
}
