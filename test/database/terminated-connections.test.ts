import { connect, ConnectionLost, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({
  own: 'changes the schema, the roles or the settings of its database',
});

const CONNECTIONS = 4;
const TERMINATED = 400;

/** Opens every connection of a pool. */
async function openAll(pool: Database): Promise<void> {
  let opened = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      pool.transaction().execute(async (transaction) => {
        opened += 1;
        await waitUntil('all of them are open', () => opened === CONNECTIONS);
        await sql`select 1`.execute(transaction);
      }),
    ),
  );
}

// What goes wrong here ends the process (an error that nobody listens to), and vitest says so.
test('connections that Postgres ends at any moment fail their statements, and nothing else', async () => {
  const pool = connect({
    connectionString: given.database.url,
    applicationName: 'victim',
    maxConnections: CONNECTIONS,
  });
  let terminated = 0;
  const isOver = () => terminated >= TERMINATED;
  const ask = async () => {
    let failed = 0;
    while (!isOver()) await sql`select 1`.execute(pool).catch(() => (failed += 1));
    return failed;
  };
  const terminate = async () => {
    while (!isOver()) {
      const { rows } = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name = 'victim'`.execute(
        given.database.db,
      );
      terminated += rows.length;
    }
  };
  const [failed] = await Promise.all([ask(), ...Array.from({ length: CONNECTIONS }, ask), terminate()]);
  expect(failed).toBeGreaterThan(0);
  await waitUntil('the pool works again', () =>
    sql`select 1`.execute(pool).then(
      () => true,
      () => false,
    ),
  );
  await pool.destroy();
});

test('of connections that were forgotten on the way, all of one pool, one statement has to find out', async () => {
  const wire = await TcpProxy.start(given.database.url);
  const pool = connect({
    connectionString: wire.through(given.database.url),
    applicationName: 'forgotten',
    maxConnections: CONNECTIONS,
    statementTimeoutMs: 500,
  });
  await openAll(pool);
  wire.forgetConnections();
  const outcomes: string[] = [];
  for (let count = 0; count <= CONNECTIONS; count++) {
    outcomes.push(
      await sql`select 1`.execute(pool).then(
        () => 'answered',
        (error: unknown) => (error instanceof ConnectionLost ? 'lost' : String(error)),
      ),
    );
  }
  expect(outcomes).toEqual(['lost', ...Array.from({ length: CONNECTIONS }, () => 'answered')]);
  await pool.destroy();
  await wire.stop();
});

test('after a failover, one refused write is enough: no connection reads from the server that became read-only', async () => {
  const name = sql.id(new URL(given.database.url).pathname.slice(1));
  const pool = connect({
    connectionString: given.database.url,
    applicationName: 'reader',
    maxConnections: CONNECTIONS,
  });
  // The setting applies to connections that are opened after it, for their lifetime. Here it marks the old server.
  await sql`alter database ${name} set default_transaction_read_only = on`.execute(given.database.db);
  await openAll(pool);
  await sql`alter database ${name} reset default_transaction_read_only`.execute(given.database.db);
  await expect(sql`create table refused ()`.execute(pool)).rejects.toMatchObject({ code: '25006' });
  const servers = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      // time: so that each statement has a connection of its own.
      const { rows } = await sql<{ isOld: boolean }>`
        select current_setting('transaction_read_only')::boolean as "isOld", pg_sleep(0.1)`.execute(pool);
      return rows[0]!.isOld;
    }),
  );
  expect(servers).toEqual(servers.map(() => false));
  await pool.destroy();
});
