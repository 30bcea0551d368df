import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'counts, empties or compares whole tables' });

/** A pool closes by itself what was idle for 10 s. */
const LESS_THAN_IDLE_MS = 6_000;

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
  const before = await countConnections();
  await expect(startInProcessApi({ DATABASE_URL: given.database.url, PORT })).rejects.toThrow('EADDRINUSE');
  const areClosed = async () => (await countConnections()) <= before;
  await waitUntil('its connections are closed', areClosed, LESS_THAN_IDLE_MS);
  other.close();
});
