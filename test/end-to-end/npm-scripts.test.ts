import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { symlink, utimes } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { commandLineOf } from '@floodgate/embedded-postgres/programs';
import { findFreePort } from '../harness/free-port.ts';
import { expect } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { databaseTest } from '../harness/database-test.ts';
import { underTest } from '../harness/service-roles.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The processes of an npm script, which a signal may be sent to. */
interface Script {
  npm: number;
  /** The shell that npm runs a script in; some shells become what they run. */
  shell: number;
  /** run.mjs, which it starts. */
  wrapper: number;
  /** The app that the wrapper starts. */
  app: number;
  output(): string;
  /** Resolves when no process of the script is left that could still write. */
  ended: Promise<unknown>;
}

/** Runs `npm run <name>` as a supervisor does, until it says that it is up. */
async function runScript(name: string, env: NodeJS.ProcessEnv, up: string): Promise<Script> {
  const { PATH, HOME } = process.env;
  const child = spawn('npm', ['run', name], { cwd: ROOT, env: { PATH, HOME, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = once(child, 'close');
  await waitUntil(`${name} is up`, () => {
    if (child.exitCode !== null) throw new Error(output);
    return output.includes(up);
  });
  const npm = child.pid!;
  const shell = childOf(npm);
  const wrapper = commandLineOf(shell).includes(' -c ') ? childOf(shell) : shell;
  return { npm, shell, wrapper, app: childOf(wrapper), output: () => output, ended };
}

function childOf(pid: number): number {
  const rows = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' }).trim().split('\n');
  const [found] = rows.map((row) => row.trim().split(/\s+/).map(Number)).filter(([parent]) => parent === pid);
  return found![1]!;
}

/** Resolves when the process has ended. One that nobody has reaped yet has no command line. */
const hasEnded = (pid: number) => waitUntil(`process ${pid} has ended`, () => commandLineOf(pid) === '');

const environment = (app: 'api' | 'worker') =>
  underTest(app, {
    DATABASE_URL: given.database.url,
    QUEUE_URL: given.database.url,
    PORT: '0',
    WORKER_PORT: '0',
  });

test.each([
  ['npm', 'SIGTERM'],
  ['npm', 'SIGHUP'],
  ['npm', 'SIGKILL'],
  ['shell', 'SIGKILL'],
  ['wrapper', 'SIGTERM'],
  ['wrapper', 'SIGHUP'],
  ['wrapper', 'SIGKILL'],
] as const)('an API whose %s gets %s stops in order', async (target, signal) => {
  const script = await runScript('api', environment('api'), 'listening at');
  process.kill(script[target], signal);
  await script.ended;
  expect(script.output()).toContain('"msg":"stopping"');
  expect(script.output()).not.toContain('"level":60');
  await hasEnded(script.app);
});

test.each(['npm', 'wrapper'] as const)('a worker whose %s is killed stops in order', async (target) => {
  const script = await runScript('worker', environment('worker'), '"msg":"working"');
  process.kill(script[target], 'SIGKILL');
  await script.ended;
  expect(script.output()).toContain('"msg":"stopping"');
  await hasEnded(script.app);
});

test.each([
  ['npm', 'SIGTERM'],
  ['npm', 'SIGKILL'],
  ['wrapper', 'SIGKILL'],
] as const)('npm start whose %s gets %s leaves nobody behind', async (target, signal) => {
  await using directory = await temporaryDirectory();
  const env = { DATA_DIR: directory.path, PORT: String(await findFreePort()) };
  const script = await runScript('start', env, 'Ctrl-C');
  const postmaster = directory.file('postgres/postmaster.pid');
  expect(existsSync(postmaster)).toBe(true);
  process.kill(script[target], signal);
  await script.ended;
  await hasEnded(script.app);
  expect(existsSync(postmaster)).toBe(false);
});

test('npm run dev starts the API anew when one of its files changes, with the same database', async () => {
  await using directory = await temporaryDirectory();
  const env = { DATA_DIR: directory.path, PORT: String(await findFreePort()), LOG_LEVEL: 'info' };
  const script = await runScript('dev', env, 'Ctrl-C');
  const starts = () => script.output().split(`listening at http://127.0.0.1:${env.PORT}`).length - 1;
  await waitUntil('the API listens', () => starts() === 1);
  await utimes(new URL('../../apps/api/src/main.ts', import.meta.url), new Date(), new Date());
  await waitUntil('the API listens again', () => starts() === 2);
  process.kill(script.npm, 'SIGTERM');
  await script.ended;
  expect(existsSync(directory.file('postgres/postmaster.pid'))).toBe(false);
});

test('apps/cli/bin/floodgate is the same command, from any directory and by a link', async () => {
  await using directory = await temporaryDirectory();
  const link = directory.file('floodgate');
  await symlink(`${ROOT}/apps/cli/bin/floodgate`, link);
  const run = (file: string, args: string[], cwd: string) => {
    const { status, stdout, stderr } = spawnSync(file, args, {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    return { status, stdout, stderr };
  };
  expect(run(link, ['--version'], directory.path)).toEqual({
    status: 0,
    stdout: `${manifest.version}\n`,
    stderr: '',
  });
  const { status, stderr } = run(`${ROOT}/apps/cli/bin/floodgate`, ['partner', 'list'], directory.path);
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringContaining('DATABASE_URL is not set'),
  });
});
