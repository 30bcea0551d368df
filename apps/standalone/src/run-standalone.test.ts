import { readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startPostgres, type PostgresServer } from '@floodgate/embedded-postgres';
import { findFreePort } from '../../../test/harness/free-port.ts';
import { isRunning } from '../../../test/harness/is-running.ts';
import { ConfigError, loadConfig } from '@floodgate/service';
import { StandaloneConfig } from './config.ts';
import { runStandalone } from './run-standalone.ts';
import { temporaryDirectory } from '../../../test/harness/temporary-directory.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// Stand-ins for the services: the tests are about the order of starts and stops.
const NOTE = `
  import { appendFileSync } from 'node:fs';
  import { connect } from 'node:net';
  const note = (line) => appendFileSync(process.env.NOTES, line + '\\n');
  note(\`pid \${process.pid}\`);`;
const API = `${NOTE}
  import { createServer } from 'node:http';
  createServer().listen(Number(process.env.PORT), process.env.HOST, () => process.send('ready'));
  process.on('SIGTERM', () => {
    const { hostname, port } = new URL(process.env.DATABASE_URL);
    const end = (state) => { note('API stops, database ' + state); process.exit(0); };
    connect(Number(port), hostname).on('connect', () => end('up')).on('error', () => end('down'));
  });`;
const WORKER = `${NOTE}
  setInterval(() => {}, 1000);
  process.on('SIGTERM', () => { note('worker stops'); process.exit(0); });
  process.on('SIGUSR2', () => process.exit(1));
  note(\`worker \${process.pid}\`);`;
const CONSOLE = `${NOTE}
  note('door ' + process.env.DOOR_URL);
  setInterval(() => {}, 1000);
  process.on('SIGTERM', () => process.exit(0));`;
const IDLE = `${NOTE}
  setInterval(() => {}, 1000);
  process.on('SIGTERM', () => process.exit(0));`;

type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;

async function run(directory: Directory, programs: { api?: string } = {}, env: object = {}) {
  const files = {
    api: directory.file('api.mjs'),
    worker: directory.file('worker.mjs'),
    delivery: directory.file('delivery.mjs'),
    console: directory.file('console.mjs'),
  };
  await writeFile(files.api, programs.api ?? API);
  await writeFile(files.worker, WORKER);
  await writeFile(files.delivery, IDLE);
  await writeFile(files.console, CONSOLE);
  await writeFile(directory.file('notes'), '');
  const stop = new AbortController();
  const ready = Promise.withResolvers<string>();
  const output: string[] = [];
  const ended = runStandalone(
    {
      config: loadConfig(StandaloneConfig, { PORT: '0', ...env }),
      directory: directory.file('data'),
      env: { ...process.env, NOTES: directory.file('notes') },
      programOf: (service) => [files[service]],
      print(text) {
        output.push(text);
        ready.resolve(text);
      },
    },
    stop,
  ).catch((error: unknown) => error);
  return { stop, ended, output, printed: Promise.race([ready.promise, ended]) };
}

const notesOf = async (directory: Directory) =>
  (await readFile(directory.file('notes'), 'utf8')).trim().split('\n');

/** The worker's pid, when it can receive signals. The API may listen earlier. */
async function runningWorker(directory: Directory): Promise<number> {
  const pid = await vi.waitUntil(
    async () => (await notesOf(directory)).map((line) => /^worker (\d+)$/.exec(line)?.[1]).find(Boolean),
    { timeout: 30_000 },
  );
  return Number(pid);
}

/** The address of the scanner that the console gets. */
const doorUrlOf = (directory: Directory) =>
  vi.waitUntil(
    async () => (await notesOf(directory)).map((line) => /^door (.*)$/.exec(line)?.[1]).find(Boolean),
    { timeout: 30_000 },
  );

async function expectNobodyLeft(directory: Directory): Promise<void> {
  const pids = (await notesOf(directory)).flatMap(
    (line) => /^pid (\d+)$/.exec(line)?.slice(1).map(Number) ?? [],
  );
  expect(pids.filter(isRunning)).toEqual([]);
  expect(await readdir(directory.file('data'))).not.toContain('lock.sqlite');
  expect(await readdir(directory.file('data/postgres')).catch(() => [])).not.toContain('postmaster.pid');
}

test('with its own Postgres: prints working commands, and stops Postgres last', async () => {
  await using directory = await temporaryDirectory();
  const { stop, ended, printed } = await run(directory);
  const demo = JSON.parse((await printed, await readFile(directory.file('data/demo.json'), 'utf8')));
  for (const part of [
    demo.baseUrl,
    demo.secretKey,
    demo.eventRef,
    `"organizedEventTicketID":${demo.tickets[0].id}`,
  ]) {
    expect(await printed).toContain(part);
  }
  await runningWorker(directory);
  const reason = new Error('enough');
  stop.abort(reason);
  expect(await ended).toBe(reason);
  expect(await notesOf(directory)).toEqual(
    expect.arrayContaining(['worker stops', 'API stops, database up']),
  );
  await expectNobodyLeft(directory);
});

describe('with a given database', () => {
  let server: PostgresServer;
  let home: Directory;
  beforeAll(async () => {
    home = await temporaryDirectory();
    const dataDir = home.file('postgres');
    server = await startPostgres({ dataDir, logFile: home.file('log'), settings: { fsync: 'off' } });
  });
  afterAll(async () => {
    await server.stop();
    await home[Symbol.asyncDispose]();
  });
  const given = () => ({ DATABASE_URL: server.url() });

  test('the console knows the address of the scanner: that of the API, or the one that is set', async () => {
    await using directory = await temporaryDirectory();
    const start = async () => {
      const { stop, ended, printed } = await run(directory, {}, given());
      const [, baseUrl] = /is listening on (\S+)/.exec(String(await printed)) ?? [];
      const doorUrl = await doorUrlOf(directory);
      stop.abort();
      await ended;
      return { baseUrl, doorUrl };
    };
    const { baseUrl, doorUrl } = await start();
    expect(doorUrl).toBe(`${baseUrl}/door/`);
    vi.stubEnv('DOOR_URL', 'https://tickets.example.com/door/');
    const other = await start();
    vi.unstubAllEnvs();
    expect(other.doorUrl).toBe('https://tickets.example.com/door/');
  });

  test('uses that database', async () => {
    await using directory = await temporaryDirectory();
    const { stop, ended, printed } = await run(directory, {}, given());
    expect(await printed).toContain('is listening on');
    expect(await readdir(directory.file('data'))).not.toContain('postgres');
    stop.abort();
    await ended;
    await expectNobodyLeft(directory);
  });

  test('a service that ends is named and started again, later each time', async () => {
    await using directory = await temporaryDirectory();
    const { stop, ended, printed, output } = await run(directory, {}, given());
    expect(await printed).toContain('is listening on');
    const workers = async () =>
      (await notesOf(directory)).flatMap((line) => /^worker (\d+)$/.exec(line)?.slice(1).map(Number) ?? []);
    for (const [count, signal] of [
      [1, 'SIGUSR2'],
      [2, 'SIGKILL'],
    ] as const) {
      const pid = await vi.waitUntil(
        async () => (await workers()).length === count && (await workers()).at(-1),
        {
          timeout: 60_000,
        },
      );
      process.kill(pid, signal);
    }
    await vi.waitUntil(async () => (await workers()).length === 3, { timeout: 60_000 });
    expect(output.slice(1)).toEqual([
      'The worker stopped unexpectedly (exit code 1). It starts again in 0.5 s.\n',
      'The worker stopped unexpectedly (SIGKILL). It starts again in 1 s.\n',
    ]);
    stop.abort();
    await ended;
    await expectNobodyLeft(directory);
  });

  test('a service that ends before the API listens stops the others and is named', async () => {
    await using directory = await temporaryDirectory();
    const { ended } = await run(directory, { api: `${NOTE} process.exit(1);` }, given());
    expect(await ended).toMatchObject({ message: 'the API stopped unexpectedly (exit code 1); stopping' });
    await expectNobodyLeft(directory);
  });

  test('after a service refused its settings, the error names only the service', async () => {
    await using directory = await temporaryDirectory();
    const { ended } = await run(directory, { api: `${NOTE} process.exit(2);` }, given());
    expect(await ended).toBeInstanceOf(ConfigError);
    await expectNobodyLeft(directory);
  });

  test('a port in use is reported first', async () => {
    await using directory = await temporaryDirectory();
    const port = await findFreePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const { ended } = await run(directory, {}, { ...given(), PORT: String(port) });
    expect(await ended).toMatchObject({ message: expect.stringContaining(`port ${port} is already in use`) });
    other.close();
  });
});

test('a database that does not answer is reported in one line, without the password', async () => {
  await using directory = await temporaryDirectory();
  const port = await findFreePort();
  const { ended } = await run(directory, {}, { DATABASE_URL: `postgres://me:hidden@127.0.0.1:${port}/x` });
  const { message } = (await ended) as Error;
  expect(message).toMatch(/^the server of DATABASE_URL cannot be used: .*connection refused$/);
  expect(message).not.toContain('hidden');
  await expectNobodyLeft(directory);
});
