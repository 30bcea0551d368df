import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** A place in a server's write-ahead log. */
export interface WalPosition {
  /** Which log: the server's identifier and its timeline, which a promotion changes. */
  log: string;
  /** Bytes since its beginning; far below 2^53. */
  bytes: number;
}

/** Returns how far a primary has written: what has committed lies before. Rejects where it is none. */
export async function readWritten(primary: Database): Promise<WalPosition> {
  // What was inserted and not what was flushed: also a commit that waits for no disk is before it.
  const { rows } = await sql<WalPosition>`
    select system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) as log,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes
    from pg_control_system()`.execute(primary);
  return rows[0]!;
}

/**
 * Returns how far a standby has replayed: the next statement of the same transaction sees all that lies before. Null where
 * the server follows none, such as a standby that was promoted.
 */
export async function readReplayed(transaction: Database): Promise<WalPosition | null> {
  // The timeline is that of its last restartpoint: after a failover it is behind until the next one.
  const { rows } = await sql<WalPosition & { isStandby: boolean }>`
    select pg_is_in_recovery() as "isStandby",
      system_identifier || '/' || lpad(upper(to_hex(timeline_id)), 8, '0') as log,
      coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0) as bytes
    from pg_control_system(), pg_control_checkpoint()`.execute(transaction);
  const { isStandby, ...position } = rows[0]!;
  return isStandby ? position : null;
}
