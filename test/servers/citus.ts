import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

/** Why no Citus server can be started on this machine; null where one can. */
export const missingCitus = (): string | null =>
  citusPrograms() === undefined ? 'no PostgreSQL with the Citus extension on this machine' : null;

/**
 * Returns the directory with the programs of a PostgreSQL that has the Citus extension: TEST_CITUS_BIN, or one that Debian
 * installs. Undefined where there is none.
 */
export function citusPrograms(): string | undefined {
  const given = process.env['TEST_CITUS_BIN'];
  return (given ? [given] : globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()).find(hasCitus);
}

function hasCitus(programsDir: string): boolean {
  const asked = spawnSync(path.join(programsDir, 'pg_config'), ['--sharedir'], { encoding: 'utf8' });
  return asked.status === 0 && existsSync(path.join(asked.stdout.trim(), 'extension', 'citus.control'));
}

/** Settings of each server of a Citus cluster. */
export const CITUS_SETTINGS = {
  shared_preload_libraries: 'citus',
  max_connections: '200',
  max_prepared_transactions: '200',
  wal_level: 'logical',
  // As the documentation asks for the services' roles: a node does not notice that a transaction's coordinator has gone.
  idle_in_transaction_session_timeout: '20s',
};
