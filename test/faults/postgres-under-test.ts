import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { startPostgres, type PostgresServer } from '@floodgate/standalone/embedded-postgres';
import { connect, ping } from '@floodgate/database';
import { freePort } from '../harness/free-port.ts';
import { waitUntil } from '../harness/wait-until.ts';

// Small, so that a checkpoint comes now and then, and that the tests' memory holds the disk.
const SETTINGS = { max_connections: '100', max_wal_size: '256MB', shared_buffers: '64MB' };
const DISK_SIZE = '4g';

/** A Postgres that can be crashed, frozen and starved, always at the same address. */
export class PostgresUnderTest {
  readonly #directory: string;
  readonly #port: number;
  readonly #settings: Record<string, string>;
  readonly #disk: string | null;
  #server!: PostgresServer;
  #hasEnded = false;

  private constructor(
    directory: string,
    server: PostgresServer,
    given: { settings: Record<string, string>; disk: string | null },
  ) {
    this.#directory = directory;
    this.#port = server.port;
    this.#settings = given.settings;
    this.#disk = given.disk;
    this.#adopt(server);
  }

  /** Starts one below `directory`, on a disk of its own where this process may mount one. */
  static async start(directory: string, more: Record<string, string> = {}): Promise<PostgresUnderTest> {
    const mountPoint = path.join(directory, 'disk');
    await mkdir(mountPoint, { recursive: true });
    const size = `size=${DISK_SIZE},mode=0755`;
    const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', mountPoint]).status === 0;
    const disk = isMounted ? mountPoint : null;
    const settings = { ...SETTINGS, ...more };
    const server = await launch(mountPoint, await freePort(), settings);
    return new PostgresUnderTest(mountPoint, server, { settings, disk });
  }

  url(database?: string): string {
    return this.#server.url(database);
  }

  /** Whether it has a disk of its own, which can be full. */
  get hasOwnDisk(): boolean {
    return this.#disk !== null;
  }

  get dataDir(): string {
    return path.join(this.#directory, 'postgres');
  }

  get logFile(): string {
    return path.join(this.#directory, 'postgres.log');
  }

  /** Ends it without a checkpoint: what is not in the log is gone. */
  async crash(): Promise<void> {
    await this.#server.kill();
  }

  /** Starts it where it has ended, or ends before it has recovered by itself; resolves when it accepts connections. */
  async recover(): Promise<void> {
    await using db = connect({ connectionString: this.url(), applicationName: 'recover', maxConnections: 1 });
    await waitUntil('Postgres accepts connections', async () => {
      if (this.#hasEnded) this.#adopt(await launch(this.#directory, this.#port, this.#settings));
      return ping(db);
    });
  }

  /** Sends a signal to every process of it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const postmaster = Number(readFileSync(path.join(this.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const pids = [postmaster, ...childrenOf(postmaster)];
    for (const pid of signal === 'SIGSTOP' ? pids : pids.toReversed()) sendSignal(pid, signal);
  }

  /** Leaves it no room on its disk. */
  fillDisk(): void {
    const { blocks, bfree, bsize } = statfsSync(this.#disk!);
    this.#resizeDisk(String((blocks - bfree) * bsize));
  }

  emptyDisk(): void {
    this.#resizeDisk(DISK_SIZE);
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded) await this.#server.stop();
    if (this.#disk) execFileSync('umount', [this.#disk]);
    await rm(path.dirname(this.#directory), { recursive: true, force: true });
  }

  #adopt(server: PostgresServer): void {
    this.#server = server;
    this.#hasEnded = false;
    void server.exited.then(() => (this.#hasEnded = true));
  }

  #resizeDisk(size: string): void {
    execFileSync('mount', ['-o', `remount,size=${size}`, this.#disk!]);
  }
}

const launch = (directory: string, port: number, settings: Record<string, string>) =>
  startPostgres({
    dataDir: path.join(directory, 'postgres'),
    logFile: path.join(directory, 'postgres.log'),
    port,
    settings,
  });

function childrenOf(parent: number): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
  return processes
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([ppid, pid]) => (ppid === parent && pid !== undefined ? [pid] : []));
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in the meantime.
  }
}
