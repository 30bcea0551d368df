import { describe, expect, test } from 'vitest';
import type { Cli } from '@floodgate/command';
import { runCli } from './program.ts';

// No server listens on port 1: a command that connects fails immediately.
const NOWHERE = 'postgres://user:s3cret@127.0.0.1:1/floodgate';

/** Runs a command line without a database. */
async function run(args: string[], env: NodeJS.ProcessEnv = { DATABASE_URL: NOWHERE }) {
  let stdout = '';
  let stderr = '';
  const cli: Cli = {
    env,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  };
  const exitCode = await runCli(args, cli);
  return { exitCode, stdout, stderr };
}

const BACKWARDS = ['--sale-starts', '2026-12-02T00:00:00Z', '--sale-ends', '2026-12-01T00:00:00Z'];
const ONE_LINE = /^floodgate: [^\n]+\n$/;

describe('wrong input', () => {
  test.each([
    [[]],
    [['nonsense']],
    [['partner']],
    [['partner', 'nonsense']],
    [['partner', 'create']],
    [['partner', 'create', 'a', 'b']],
    [['partner', 'create', 'a\nb']],
    [['partner', 'create', 'a', '--by', '']],
    [['help', 'nonsense']],
    [['partner', 'help', 'nonsense']],
    [['partner', 'list', '--nonsense']],
    [['partner', 'limit', '1']],
    [['partner', 'limit', '1', '0']],
    [['partner', 'limit', 'x', '100']],
    [['key', 'issue', 'x']],
    [['key', 'issue', '1', '--expires', 'tomorrow']],
    [['key', 'issue', '1', '--expires', '2020-01-01T00:00:00Z']],
    [['key', 'issue', '1', '--expires', '0h']],
    [['key', 'rotate', 'fg_0123456789abcdef_s3cret']],
    [['event', 'create', 'Gala']],
    [['event', 'create', 'Gala', '--prefix', 'g']],
    [['event', 'create', 'Gala', '--prefix', 'GALA', '--duplicates', 'maybe']],
    [['event', 'grant', '1001']],
    [['ticket', 'create', '1001', '--title', 'VIP']],
    [['ticket', 'create', '1001', '--title', 'VIP', '--capacity', '-1']],
    [['ticket', 'create', '1', '--title', 'VIP', '--capacity', '1', ...BACKWARDS]],
    [['ticket', 'update', '1', ...BACKWARDS]],
    [['ticket', 'update', '1']],
    [['ticket', 'update', '1', '--price', '12.505']],
    [['ticket', 'update', '1', '--active', '--inactive']],
    [['redrive', 'x']],
    [['redrive', '--limit', '0']],
    [['audit', '--limit', '0']],
    [['audit', '--since', 'yesterday']],
    [['migrate', '--wait', 'long']],
    [['grant', 'cli', 'floodgate_cli']],
    [['grant', 'api']],
    [['queue', 'status']],
    // Names that every object has.
    ...['constructor', 'toString', '__proto__', 'hasOwnProperty'].flatMap((name) => [
      [[name]],
      [['event', name]],
      [['event', 'update', '1', `--${name}`, 'x']],
      [['key', 'issue', '1', '--mode', name]],
    ]),
    [['ticket', 'create', '1', '--title', 'VIP', '--capacity', '5.000']],
    [['ticket', 'update', '1', '--price', '1.000']],
  ])('%j is one line on standard error and exit code 2', async (args) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).not.toContain('s3cret');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  test.each([
    [['partner', 'create', 'a\nb'], '<name>: 1 to 255 characters'],
    [['partner', 'create', 'a', '--contact', 'b', '--by', ''], '--by: 1 to 255 characters'],
    [['partner', 'create', 'a', '--contact', 'b'], '--contact: an e-mail address'],
    [['partner', 'contact', '1', 'b'], '<contact>: an e-mail address'],
    [['partner', 'limit', '1', '0'], '<requestsPerSecond>: a whole number'],
    [['key', 'issue', '1', '--expires', '0h'], '--expires: a time in the future'],
    [['key', 'rotate', 'fg_0123456789abcdef_s3cret'], '<keyId>: 16 of 0–9'],
    [['event', 'create', 'Gala', '--prefix', 'g'], '--prefix: 2 to 8 of A–Z'],
    [['event', 'update', '1', '--time-zone', 'Mars'], '--time-zone: a time zone such as'],
    [['event', 'update', '1', '--reply-to', 'nobody'], '--reply-to: an e-mail address'],
    [['ticket', 'create', '1', '--title', 'VIP', '--capacity', '1', ...BACKWARDS], '--sale-starts: the sale'],
    [['redrive', 'x'], '<batchIds>: UUIDs'],
  ])('%j names what was typed', async (args, problem) => {
    const { exitCode, stderr } = await run(args);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`floodgate: ${problem}`),
    });
  });

  test.each([
    [{}, 'DATABASE_URL is not set'],
    [{ DATABASE_URL: 'mysql://user:s3cret@host/db' }, 'DATABASE_URL is not valid'],
    [{ DATABASE_URL: 'postgres://user:s3cret@host:port/db' }, 'DATABASE_URL is not valid'],
    [{ DATABASE_URL: NOWHERE, QUEUE_URL: 'redis://user:s3cret@host:port' }, 'QUEUE_URL is not valid'],
    [{ DATABASE_URL: NOWHERE, QUEUE_URL: 'amqp://user:s3cret@host' }, 'QUEUE_URL is not valid'],
    [{ DATABASE_URL: NOWHERE, QUEUE_URL: 'redis-cluster://u:s3cret@host:x' }, 'QUEUE_URL is not valid'],
    [{ DATABASE_URL: NOWHERE, QUEUE_NAMESPACE: 'Not This' }, 'QUEUE_NAMESPACE is not valid'],
  ])('the environment %j is named', async (env, problem) => {
    const { exitCode, stderr } = await run(['partner', 'list'], env);
    expect(stderr).toMatch(ONE_LINE);
    expect(stderr).toContain(problem);
    expect(stderr).not.toContain('s3cret');
    expect(exitCode).toBe(2);
  });
});

describe('a database that is down', () => {
  test.each([[['partner', 'list']], [['reconcile', '--json']], [['migrate']], [['redrive']]])(
    '%j prints one line without the password, exit code 1',
    async (args) => {
      expect(await run(args)).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: 'floodgate: cannot connect to Postgres (DATABASE_URL): connection refused\n',
      });
    },
  );
});

describe('help', () => {
  test('reports an unknown command', async () => {
    const { stderr } = await run(['help', 'nope']);
    expect(stderr).toBe('floodgate: expected a command; --help lists all commands\n');
  });

  test.each([[['--help']], [['help']], [['help', 'ticket']], [['ticket', 'help', 'create']]])(
    '%j is on standard output, needs no environment and exits 0',
    async (args) => {
      const { exitCode, stdout, stderr } = await run(args, {});
      expect(stdout).toMatch(/^Usage: floodgate/);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    },
  );

  test('offers --json on every command', async () => {
    for (const command of [
      'migrate',
      'partner list',
      'key rotate',
      'ticket update',
      'queue status',
      'reconcile',
      'audit',
    ]) {
      const { stdout } = await run([...command.split(' '), '--help']);
      expect(stdout, command).toContain('--json');
    }
  });
});
