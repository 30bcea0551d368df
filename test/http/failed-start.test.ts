import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'counts, empties or compares whole tables' });

test('a start that fails closes everything that it has opened', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const PORT = String((other.address() as AddressInfo).port);
  const countConnections = async () => {
    const { rows } = await sql<{ count: number }>`select count(*) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name <> ''`.execute(given.database.db);
    return rows[0]!.count;
  };
  const connect = vi.spyOn(pg.Pool.prototype, 'connect');
  const end = vi.spyOn(pg.Pool.prototype, 'end');
  const before = await countConnections();
  // Only pools of this database: servers that files share can connect meanwhile.
  const name = new URL(given.database.url).pathname.slice(1);
  const poolsOf = ({ mock }: typeof connect | typeof end) =>
    new Set(
      mock.contexts.filter((pool) => JSON.stringify((pool as { options: unknown }).options).includes(name)),
    );
  const ofTest = poolsOf(connect);
  await expect(startInProcessApi({ DATABASE_URL: given.database.url, PORT })).rejects.toThrow('EADDRINUSE');
  // The start itself ends its pools. A pool that is forgotten also closes its connections, when they have
  // been idle for long.
  const opened = poolsOf(connect).difference(ofTest);
  expect(opened.size).toBeGreaterThan(1);
  expect(opened.difference(poolsOf(end)).size).toBe(0);
  vi.restoreAllMocks();
  await waitUntil('its connections are closed', async () => (await countConnections()) <= before);
  other.close();
});
