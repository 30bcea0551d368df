import { execFileSync } from 'node:child_process';
import { chown, cp, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { waitUntil } from '../harness/wait-until.ts';

const STANDBY = 'standby';
// What belongs to the running primary alone.
const OWN_FILES = ['postmaster.pid', 'postmaster.opts'];

/**
 * Makes a copy of a running Postgres that will follow it as a standby: what pg_basebackup does, which the
 * embedded binaries lack.
 */
export async function copyAsStandby(
  primary: { dataDir: string; url: string },
  dataDir: string,
): Promise<void> {
  await withClient(primary.url, async (client) => {
    await client.query("select pg_backup_start('standby', fast => true)");
    execFileSync('cp', ['-a', primary.dataDir, dataDir]);
    await cp(`${primary.dataDir}.password`, `${dataDir}.password`);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop()');
    await writeFile(path.join(dataDir, 'backup_label'), rows[0]!.labelfile);
    await writeFile(path.join(dataDir, 'standby.signal'), '');
    const { uid, gid } = await stat(dataDir);
    for (const file of ['backup_label', 'standby.signal']) await chown(path.join(dataDir, file), uid, gid);
    for (const file of OWN_FILES) await rm(path.join(dataDir, file), { force: true });
  });
}

/** Makes commits of the primary wait for its standby, and resolves when they do. */
export async function waitForStandby(primaryUrl: string): Promise<void> {
  await withClient(primaryUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${STANDBY}'`);
    await client.query('select pg_reload_conf()');
    await waitUntil('the standby is in step', async () => {
      const { rows } = await client.query("select from pg_stat_replication where sync_state = 'sync'");
      return rows.length > 0;
    });
  });
}

/** Makes a standby a primary. */
export async function promote(standbyUrl: string): Promise<void> {
  await withClient(standbyUrl, (client) => client.query('select pg_promote()'));
}

async function withClient(url: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

/** The settings that make a server follow the primary. */
export function followerSettings(primaryUrl: string): Record<string, string> {
  const { hostname, port, username, password } = new URL(primaryUrl);
  return {
    primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY}`,
  };
}
