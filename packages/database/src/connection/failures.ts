import { reasonOf, sqlStateOf } from '@floodgate/service/failure';

/** No connection was available. The statement was never sent, so nothing has changed. */
export class ConnectionFailed extends Error {
  override name = 'ConnectionFailed';
  constructor(cause: unknown) {
    super(`cannot connect to Postgres (DATABASE_URL): ${reasonOf(cause)}`, { cause });
  }
}

/** The connection ended or stopped answering during a statement, which may have committed. */
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
  // Rolled back:
  | 'conflict' // a unique value already exists
  | 'bad-value' // Postgres rejects a value
  | 'locked' // another transaction holds the lock of a row or table for too long
  | 'unavailable' // no time, disk space or connection left, or an operator has to act
  | 'unexpected'; // any other reason

/** By SQLSTATE, or by its first three or two characters if the whole code is not listed. */
const MEANINGS: Record<string, StatementFailure> = {
  '23505': 'conflict',
  '55P03': 'locked',
  '25006': 'unavailable', // read-only: a standby, or a primary that was demoted
  '40001': 'unavailable', // serialization failure
  '40P01': 'unavailable', // deadlock
  '42501': 'unavailable', // a privilege was revoked
  '42703': 'unavailable', // a column was renamed or dropped
  '42P01': 'unavailable', // a table was renamed or dropped
  '57014': 'unavailable', // statement timeout
  // In a Citus cluster, the error of another node that was lost. From the connected server, they end the
  // connection.
  '08': 'unknown',
  '57P': 'unknown', // shutdown by an administrator, or a crash
  '22': 'bad-value', // data exception
  '23': 'bad-value', // constraint
  '53': 'unavailable', // out of disk, memory or connections
  '54': 'bad-value', // program limit
  '58': 'unavailable', // operating system error
  P0: 'bad-value', // raised by a trigger
};

/** Returns what a failure means, by its SQLSTATE (postgresql.org/docs/18/errcodes-appendix.html). */
export function statementFailure(error: unknown): StatementFailure {
  if (error instanceof ConnectionFailed) return 'not-sent';
  if (error instanceof ConnectionLost) return 'unknown';
  const code = sqlStateOf(error) ?? '';
  return MEANINGS[code] ?? MEANINGS[code.slice(0, 3)] ?? MEANINGS[code.slice(0, 2)] ?? 'unexpected';
}

/** Returns whether another node of a Citus cluster did not answer in time. The other nodes may answer. */
export function isShardAway(error: unknown) {
  return /^(08|57P|57014)/.test(sqlStateOf(error) ?? '');
}
