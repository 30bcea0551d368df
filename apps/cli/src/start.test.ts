import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// What a command loads is most of the time that it takes to start.

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** Tells of every module that is loaded, on standard error. */
const TELL = `data:text/javascript,
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({ load: (url, context, next) => (writeSync(2, url + String.fromCharCode(10)), next(url, context)) });`;

/** Returns the packages, of those that take long to load, that a command line loads. */
function loadedBy(...args: string[]): string[] {
  const { stderr } = spawnSync(process.execPath, ['--import', TELL, MAIN, ...args], {
    env: { DATABASE_URL: 'postgres://user@127.0.0.1:1/nowhere' },
    encoding: 'utf8',
  });
  expect(stderr).toContain(MAIN);
  const costly = ['@sinclair/typebox', 'bullmq', 'fastify', 'ioredis', 'kysely', 'pg', 'pino'];
  return costly.filter((name) => stderr.includes(`/node_modules/${name}/`));
}

test('--help loads nothing but commands', () => {
  expect(loadedBy('--help')).toEqual([]);
});

test.for(['partner list', 'partner create Gala', 'audit', 'reconcile'])(
  '%s loads what it takes to check settings and to ask Postgres',
  (line) => {
    expect(loadedBy(...line.split(' '))).toEqual(['@sinclair/typebox', 'kysely', 'pg']);
  },
);
