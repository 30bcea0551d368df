import { reasonOf, sqlStateOf } from '@floodgate/service/failure';

/** No connection was available. The statement was never sent, so nothing has changed. */
export class ConnectionFailed extends Error {
  override name = 'ConnectionFailed';
  constructor(cause: unknown) {
    super(`cannot connect to Postgres (DATABASE_URL): ${reasonOf(cause)}`, { cause });
  }
}

/** The connection ended, or stopped answering, under a statement. Whether it committed is unknown. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
  constructor(cause: unknown) {
    super('the connection to Postgres was lost', { cause });
  }
}

/** The meaning of a failed statement for its caller. */
export type StatementFailure =
  | 'not-sent'
  | 'unknown' // it may have committed, or may still commit
  // Rolled back, because of
  | 'conflict' // a unique value that was there already
  | 'bad-value' // a value that Postgres refuses
  | 'locked' // somebody else who holds a row, or a table, for too long
  | 'unavailable' // a lack of time, disk or connections, or something that somebody has to mend
  | 'unexpected'; // a reason that nobody foresaw

/** By SQLSTATE or, where nothing else is said of one, by its first three or two characters. */
const MEANINGS: Record<string, StatementFailure> = {
  '23505': 'conflict',
  '55P03': 'locked',
  '25006': 'unavailable', // read-only: a standby, or a primary that was demoted
  '40001': 'unavailable', // serialization failure
  '40P01': 'unavailable', // deadlock
  '42501': 'unavailable', // a privilege was taken away
  '42703': 'unavailable', // a column was renamed or dropped
  '42P01': 'unavailable', // a table was
  '57014': 'unavailable', // statement timeout
  // In a Citus cluster, from a server behind this one, which was lost. From this one they end the connection.
  '08': 'unknown',
  '57P': 'unknown', // an administrator, or a crash
  '22': 'bad-value', // data exception
  '23': 'bad-value', // constraint
  '53': 'unavailable', // out of disk, memory or connections
  '54': 'bad-value', // program limit
  '58': 'unavailable', // the system below Postgres
  P0: 'bad-value', // raised by a trigger
};

/** Returns what a failure means, by its SQLSTATE (postgresql.org/docs/18/errcodes-appendix.html). */
export function statementFailure(error: unknown): StatementFailure {
  if (error instanceof ConnectionFailed) return 'not-sent';
  if (error instanceof ConnectionLost) return 'unknown';
  const code = sqlStateOf(error) ?? '';
  return MEANINGS[code] ?? MEANINGS[code.slice(0, 3)] ?? MEANINGS[code.slice(0, 2)] ?? 'unexpected';
}

/**
 * Returns whether a server of a Citus cluster, behind the one that we are connected to, did not answer, or not in time. Others
 * may.
 */
export function isShardAway(error: unknown): boolean {
  return /^(08|57P|57014)/.test(sqlStateOf(error) ?? '');
}
