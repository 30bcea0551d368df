import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { inject } from 'vitest';
import { connectInTest } from './connect-in-test.ts';
import type { TestDatabase } from './database.ts';
import { withDatabase } from './database-url.ts';

/** Makes the servers of a database count the calls of functions, on connections that are opened later. */
export async function countFunctionCalls({ url }: TestDatabase): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await onEachServer(url, (server) =>
    sql`alter database ${sql.id(name)} set track_functions = 'pl'`.execute(server),
  );
}

/**
 * Returns the names of the functions that each server has executed, also when another function called them.
 * The first server is the one that tests connect to. A connection reports its calls when it ends.
 */
export const calledFunctions = ({ url }: TestDatabase): Promise<string[][]> =>
  onEachServer(url, async (server) => {
    const { rows } = await sql<{ name: string }>`
      select distinct funcname as name from pg_stat_user_functions
      where schemaname = current_schema() and calls > 0 order by 1`.execute(server);
    return rows.map(({ name }) => name);
  });

const onEachServer = <Result>(url: string, ask: (server: Database) => Promise<Result>): Promise<Result[]> =>
  Promise.all(
    inject('serverUrls').map(async (serverUrl) => {
      await using server = connectInTest(withDatabase(serverUrl, new URL(url).pathname.slice(1)));
      return await ask(server);
    }),
  );
