import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { connect, type Database } from '@floodgate/database';
import { cpuMicrosOfDescendants } from '@floodgate/test/harness/process-usage.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { runCommand, startApp } from '../contenders/checkout.ts';
import { createCheckoutDatabase, type Caller } from '../contenders/checkout-database.ts';
import type { RunFixture } from '../contenders/contender.ts';

/**
 * The processes of this checkout's `npm start`: Postgres, API, worker and delivery, with an empty database.
 */
export interface Installation extends AsyncDisposable {
  baseUrl: string;
  db: Database;
  /** A partner with a live key and a live event. */
  live: RunFixture & Pick<Caller, 'eventId'>;
  /** Runs the operator's command. Resolves with the document that it prints. */
  run(...args: string[]): Promise<unknown>;
  /** Returns the CPU time of all its processes so far, or of those whose command line contains a text. */
  cpuMicros(program?: string): Promise<number>;
  /** The address of the console. */
  consoleUrl: string;
  /** Resolves when its processes use less than a tenth of a core. */
  idle(): Promise<void>;
}

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const START_ENV = { PORT: '0', DELIVERY_PORT: '0', LOG_LEVEL: 'warn' };
const IDLE_POLL_MS = 1_000;
const IDLE_SHARE = 0.1;
const IDLE_TIMEOUT_MS = 180_000;

/** Starts an installation in a temporary directory. */
export async function startInstallation(env: Record<string, string> = {}): Promise<Installation> {
  await using started = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'floodgate-bench-'));
  started.defer(() => rm(dataDir, { recursive: true, force: true }));
  const process = started.adopt(
    await startApp(ROOT, 'standalone', { env: { ...START_ENV, DATA_DIR: dataDir, ...env } }),
    (app) => app.end(),
  );
  await process.until(
    'npm start says where it listens',
    () => process.output.includes('Ctrl-C') || undefined,
  );
  const demo = JSON.parse(await readFile(path.join(dataDir, 'demo.json'), 'utf8')) as { baseUrl: string };
  const connection = parseEnv(await readFile(path.join(dataDir, 'connection.env'), 'utf8'));
  const databaseUrl = connection['DATABASE_URL']!;
  const db = started.adopt(
    connect({ connectionString: databaseUrl, applicationName: 'bench', maxConnections: 2 }),
    (database) => database.destroy(),
  );
  const caller = await createCheckoutDatabase((args) => runCommand(ROOT, databaseUrl, args));
  const cpuMicros = (program?: string) => cpuMicrosOfDescendants(process.pid, program);
  const consoleUrl = /^Console +(\S+)/m.exec(process.output)?.[1] ?? '';
  const owned = started.move();
  return {
    baseUrl: demo.baseUrl,
    db,
    live: { ...caller.fixture(db), eventId: caller.eventId },
    run: (...args) => runCommand(ROOT, databaseUrl, args),
    cpuMicros,
    consoleUrl,
    idle: () => untilIdle(cpuMicros),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function untilIdle(cpuMicros: () => Promise<number>): Promise<void> {
  await waitUntil(
    'its processes are idle',
    async () => {
      const before = await cpuMicros();
      await delay(IDLE_POLL_MS);
      return (await cpuMicros()) - before < IDLE_POLL_MS * 1_000 * IDLE_SHARE;
    },
    IDLE_TIMEOUT_MS,
  );
}
