import { CommanderError } from 'commander';
import { ConnectionFailed, ConnectionLost } from '@floodgate/database/connection/failures';
import { ConfigError, Failure, InvalidInput, reasonOf, sqlStateOf } from '@floodgate/service/failure';

/** A server did not answer. A retry may succeed. */
export class Unreachable extends Failure {
  override name = 'Unreachable';
}

/**
 * Returns the error line of a failed command (or null), without stack trace or password, and its exit code: 2
 * for wrong input.
 */
export function endingOf(error: unknown) {
  // Commander also throws after --help and --version, which are not failures.
  if (error instanceof CommanderError && error.exitCode === 0) return { line: null, exitCode: 0 };
  const isWrongInput = [CommanderError, InvalidInput, ConfigError].some((kind) => error instanceof kind);
  const line = sentenceOf(error)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return { line, exitCode: isWrongInput ? 2 : 1 };
}

/** Errors whose messages are written for operators. */
const TOLD = [Failure, InvalidInput, ConfigError, ConnectionFailed];

const NO_COMMAND = 'expected a command; --help lists all commands';
const OPEN = 'whether the command took effect is unknown';

const REFUSALS: Record<string, string> = {
  '42P01': 'the database schema is missing; run floodgate migrate',
  '42703': 'the database schema is out of date; run floodgate migrate',
  '42501': 'the user in DATABASE_URL lacks the permission for this',
  '25006': 'Postgres is read-only now (a standby?); nothing was changed',
  '57014': 'Postgres took too long; nothing was changed',
};

function sentenceOf(error: unknown) {
  if (error instanceof CommanderError)
    return error.code === 'commander.help' ? NO_COMMAND : error.message.replace(/^error: /, '');
  if (TOLD.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof ConnectionLost) return `the connection to Postgres was lost; ${OPEN}`;
  const sqlState = sqlStateOf(error);
  if (!sqlState) return `unexpected error: ${reasonOf(error)}`;
  // Reported by a server about another server of the cluster: a failure of our own connection is a ConnectionLost.
  if (sqlState.startsWith('08')) return `a server of the Citus cluster does not answer; ${OPEN}`;
  // Only the SQLSTATE and the constraint are used: Postgres's own messages quote data.
  const { constraint } = error as { constraint?: string };
  const named = constraint ? `${sqlState}, ${constraint}` : sqlState;
  return REFUSALS[sqlState] ?? `Postgres refused the statement (SQLSTATE ${named})`;
}
