import { sqlStateOf } from '@floodgate/service/sql-state';

/** No connection was to be had. The statement was never sent: nothing can have changed. */
export class ConnectionFailed extends Error {
  override name = 'ConnectionFailed';
  constructor(cause: unknown) {
    super('cannot connect to Postgres (DATABASE_URL)', { cause });
  }
}

/** The connection ended, or stopped answering, under a statement. Whether it committed is unknown. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
  constructor(cause: unknown) {
    super('the connection to Postgres was lost', { cause });
  }
}

/** What a failed statement means for whoever has to decide what comes next. */
export type StatementFailure =
  /** Never sent. */
  | 'not-sent'
  /** May have committed, or may still commit. */
  | 'unknown'
  /** Rolled back: a unique value was there already. */
  | 'conflict'
  /** Rolled back: a value that Postgres refuses. */
  | 'bad-value'
  /** Rolled back: somebody else holds a row, or a table, for too long. */
  | 'locked'
  /** Rolled back: Postgres is out of something (time, disk, connections), or not as it should be until somebody mends it. */
  | 'unavailable'
  /** Rolled back, for a reason nobody foresaw. */
  | 'unexpected';

const UNAVAILABLE = new Set([
  '25006', // read-only: a standby, or a primary that was demoted
  '40001', // serialization failure
  '40P01', // deadlock
  '42501', // a privilege was taken away
  '42703', // a column was renamed or dropped
  '42P01', // a table was
  '57014', // statement timeout
]);

/** Reads the SQLSTATE (postgresql.org/docs/18/errcodes-appendix.html). */
export function statementFailure(error: unknown): StatementFailure {
  if (error instanceof ConnectionFailed) return 'not-sent';
  if (error instanceof ConnectionLost) return 'unknown';
  const code = sqlStateOf(error);
  if (code === null) return 'unexpected';
  if (code === '23505') return 'conflict';
  if (code === '55P03') return 'locked';
  if (UNAVAILABLE.has(code) || code.startsWith('53') || code.startsWith('58')) return 'unavailable';
  // 22 data exception, 23 constraint, 54 program limit, P0 raised by a trigger.
  return /^(22|23|54|P0)/.test(code) ? 'bad-value' : 'unexpected';
}
