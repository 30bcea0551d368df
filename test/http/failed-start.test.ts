import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { database, test } from '../harness/database-test.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Returns the number of TCP connections and servers of this process. */
const countSockets = () => process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name)).length;

test('a start that fails closes everything that it has opened', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const PORT = String((other.address() as AddressInfo).port);
  const countConnections = async () => {
    const { rows } = await sql<{ count: number }>`select count(*) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name <> ''`.execute(database.db);
    return rows[0]!.count;
  };
  const before = await countConnections();
  const socketsBefore = countSockets();
  await expect(startInProcessApi({ DATABASE_URL: database.url, PORT })).rejects.toThrow('EADDRINUSE');
  // At once, and not when a pool closes what has been idle for long.
  expect(countSockets()).toBeLessThanOrEqual(socketsBefore);
  const areClosed = async () => (await countConnections()) <= before;
  await waitUntil('its connections are closed', areClosed);
  other.close();
});
