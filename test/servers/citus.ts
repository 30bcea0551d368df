import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

/** Reason why this machine cannot start a Citus server, or null. */
export const missingCitus = (): string | null =>
  citusPrograms() === undefined ? 'no PostgreSQL with the Citus extension on this machine' : null;

/**
 * Returns the program directory of a PostgreSQL with the Citus extension: TEST_CITUS_BIN or Debian's.
 * Undefined if there is none.
 */
export function citusPrograms(): string | undefined {
  const given = process.env['TEST_CITUS_BIN'];
  return (given ? [given] : globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()).find(hasCitus);
}

function hasCitus(programsDir: string): boolean {
  const asked = spawnSync(path.join(programsDir, 'pg_config'), ['--sharedir'], { encoding: 'utf8' });
  return asked.status === 0 && existsSync(path.join(asked.stdout.trim(), 'extension', 'citus.control'));
}

/** Settings of every server in a Citus cluster. */
export const CITUS_SETTINGS = {
  shared_preload_libraries: 'citus',
  max_connections: '200',
  max_prepared_transactions: '200',
  wal_level: 'logical',
  // The documentation requires this for the services' roles: a node does not notice that a transaction's
  // coordinator is gone.
  idle_in_transaction_session_timeout: '20s',
};
