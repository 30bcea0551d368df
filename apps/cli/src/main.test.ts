import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// Loading modules takes most of a command's start.

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** Prints every module that is loaded on standard error. */
const TELL = `data:text/javascript,
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({ load: (url, context, next) => (writeSync(2, url + String.fromCharCode(10)), next(url, context)) });`;

/** Returns the slow packages that a command line loads. */
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
