import { sql } from 'kysely';
import { connectInTest } from '../harness/connect-in-test.ts';
import { readCitusServers } from './template.ts';

// node packages/toolchain/run.mjs test/servers/without-fsync.ts URL
//
// For a Citus cluster that serves only tests: from now on its servers do not wait for the disk. The tests kill servers, but none cuts the
// power, and what a process has written outlives it without fsync.

for (const url of await readCitusServers(process.argv[2]!)) {
  await using server = connectInTest(url);
  await sql`alter system set fsync = off`.execute(server);
  await sql`select pg_reload_conf()`.execute(server);
}
