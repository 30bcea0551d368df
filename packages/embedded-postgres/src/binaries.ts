import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** Where the PostgreSQL programs are. */
export interface PostgresBinaries {
  postgres: string;
  initdb: string;
  pg_ctl: string;
}

/**
 * Finds the PostgreSQL programs that the registry package `embedded-postgres` brought for this platform.
 *
 * Only its platform package is used. Its own class installs an exit hook that stops Postgres on SIGINT while
 * the API still needs it, starts Postgres in this process group, where a terminal's Ctrl-C reaches it as well,
 * and cannot run as root below a directory that is closed to others.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const binaries: PostgresBinaries = await import(pathToFileURL(resolvePlatformPackage()).href);
  for (const program of [binaries.postgres, binaries.initdb, binaries.pg_ctl]) ensureExecutable(program);
  return binaries;
}

// The platform packages are dependencies of embedded-postgres, so only from there are they in sight.
function resolvePlatformPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    return createRequire(embedded).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `there is no embedded Postgres for ${platform} here; set DATABASE_URL to a Postgres server`,
      { cause },
    );
  }
}

// Some ways of unpacking a package lose the executable bit.
function ensureExecutable(program: string): void {
  const mode = statSync(program).mode;
  if ((mode & 0o111) !== 0o111) chmodSync(program, mode | 0o111);
  accessSync(program, constants.X_OK);
}
