import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect, migrate, ping, type Database } from '@floodgate/database';
import { createPartner, listPartners } from '@floodgate/partners';
import { describe, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '@floodgate/embedded-postgres';
import { isRunning } from '../harness/is-running.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';

vi.setConfig({ testTimeout: 60_000 });

const settings = { fsync: 'off' };

// mkdtemp makes directories of mode 0700: run as root, these tests also prove that Postgres, which is then
// somebody else, gets at its data below a directory that only root may enter.
describe('startPostgres', () => {
  test('keeps its data over a stop and over a crash', async () => {
    await using directory = await temporaryDirectory();
    const options = { dataDir: directory.file('postgres'), logFile: directory.file('log') };
    const first = await startPostgres(options);
    await withDatabase(first, async (db) => {
      await migrate(db);
      await createPartner(db, 'before the stop');
    });
    await first.stop();
    expect(await first.exited).toEqual({ code: 0, signal: null });

    const second = await startPostgres(options);
    await withDatabase(second, (db) => createPartner(db, 'before the crash'));
    await second.kill();
    await using third = await startPostgres(options);
    const names = await withDatabase(third, async (db) => (await listPartners(db)).map(({ name }) => name));
    expect(names).toEqual(['before the stop', 'before the crash', 'House']);
  });

  test('lets nobody in without the password, which only its owner may read', async () => {
    await using directory = await temporaryDirectory();
    await using server = await startFast(directory);
    const password = new URL(server.url()).password;
    const passwordFile = directory.file('postgres.password');
    expect(await canConnect(server.url())).toBe(true);
    expect(await canConnect(server.url().replace(password, 'wrong'))).toBe(false);
    expect(await canConnect(server.url().replace(`:${password}`, ''))).toBe(false);
    expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
    expect(await readFile(directory.file('log'), 'utf8')).not.toContain(password);
  });

  test('stopping twice is no error', async () => {
    await using directory = await temporaryDirectory();
    const server = await startFast(directory);
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
    expect(await canConnect(server.url())).toBe(false);
  });

  test('stops the Postgres that a killed process left running', async () => {
    await using directory = await temporaryDirectory();
    const orphan = await abandonPostgres(directory);
    expect(isRunning(orphan)).toBe(true);
    await using server = await startFast(directory);
    expect(await canConnect(server.url())).toBe(true);
    expect(await postmasterPid(directory)).not.toBe(orphan);
  });

  test('is not misled by a postmaster.pid whose process id is now somebody else', async () => {
    await using directory = await temporaryDirectory();
    await (await startFast(directory)).stop();
    await writeFile(directory.file('postgres/postmaster.pid'), `${process.ppid}\n`);
    await using server = await startFast(directory);
    expect(await canConnect(server.url())).toBe(true);
  });

  test('starts anew beside what is left of an interrupted start', async () => {
    await using directory = await temporaryDirectory();
    await mkdir(directory.file('postgres/base'), { recursive: true });
    await mkdir(directory.file('postgres.initdb'));
    await using server = await startFast(directory);
    expect(await canConnect(server.url())).toBe(true);
    const names = await readdir(directory.path);
    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(/^postgres\.incomplete-\d+$/)]));
    expect(names.filter((name) => name.includes('initdb'))).toEqual([]);
  });

  test('says in one line why it cannot start, and where the log is', async () => {
    await using directory = await temporaryDirectory();
    const failed = startPostgres({
      dataDir: directory.file('postgres'),
      logFile: directory.file('log'),
      settings: { ...settings, shared_buffers: 'much' },
    });
    await expect(failed).rejects.toThrow(/^Postgres does not start: .*shared_buffers.* \(log: .*\)$/);
  });

  test('gives up when told to, and leaves nothing half made', async () => {
    await using directory = await temporaryDirectory();
    const stop = new AbortController();
    const logFile = directory.file('log');
    const start = startPostgres({
      dataDir: directory.file('postgres'),
      logFile,
      settings,
      signal: stop.signal,
    });
    const outcome = start.catch((error: unknown) => error);
    await vi.waitFor(async () => expect(await readFile(logFile, 'utf8')).not.toBe(''), { timeout: 60_000 });
    const enough = new Error('enough');
    stop.abort(enough);
    expect(await outcome).toBe(enough);
    expect((await readdir(directory.path)).filter((name) => name.includes('initdb'))).toEqual([]);
  });
});

type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;

function startFast(directory: Directory): Promise<PostgresServer> {
  return startPostgres({ dataDir: directory.file('postgres'), logFile: directory.file('log'), settings });
}

async function withDatabase<T>(server: PostgresServer, use: (db: Database) => Promise<T>): Promise<T> {
  const db = connect({ connectionString: server.url(), applicationName: 'test', maxConnections: 1 });
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}

async function canConnect(connectionString: string): Promise<boolean> {
  const db = connect({ connectionString, applicationName: 'test', maxConnections: 1 });
  try {
    return await ping(db);
  } finally {
    await db.destroy();
  }
}

async function postmasterPid(directory: Directory): Promise<number> {
  return Number.parseInt(await readFile(directory.file('postgres/postmaster.pid'), 'utf8'), 10);
}

/** Starts Postgres from a process that is then killed; answers the id of the Postgres that is left. */
async function abandonPostgres(directory: Directory): Promise<number> {
  const options = { dataDir: directory.file('postgres'), logFile: directory.file('log'), settings };
  const program = `
    const { startPostgres } = await import(${JSON.stringify(import.meta.resolve('@floodgate/embedded-postgres'))});
    await startPostgres(${JSON.stringify(options)});
    process.send('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return postmasterPid(directory);
}
