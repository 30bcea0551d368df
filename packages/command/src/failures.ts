import { CommanderError } from 'commander';
import { ConnectionFailed, ConnectionLost } from '@floodgate/database/connection/failures';
import { ConfigError, Failure, InvalidInput, reasonOf, sqlStateOf } from '@floodgate/service/failure';

export { reasonOf };

/** A server did not answer. Trying again later may help. */
export class Unreachable extends Failure {
  override name = 'Unreachable';
}

const WRONG_INPUT = 2;
const FAILED = 1;

/** Says how a failed command ends: in one line (null: none), never a stack trace or a password, and by an exit code. */
export function endingOf(error: unknown): { line: string | null; exitCode: number } {
  if (error instanceof CommanderError) return endingOfCommander(error);
  const isWrongInput = error instanceof InvalidInput || error instanceof ConfigError;
  return { line: oneLine(sentenceOf(error)), exitCode: isWrongInput ? WRONG_INPUT : FAILED };
}

// Commander also throws to end --help and --version, which are no failures.
function endingOfCommander(error: CommanderError) {
  if (error.exitCode === 0) return { line: null, exitCode: 0 };
  if (error.code === 'commander.help') {
    return { line: 'a command is missing; --help lists what there is', exitCode: WRONG_INPUT };
  }
  return { line: oneLine(error.message.replace(/^error: /, '')), exitCode: WRONG_INPUT };
}

/** Their messages are meant for operators. */
const TOLD = [Failure, InvalidInput, ConfigError, ConnectionFailed];

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return `unexpected error: ${reasonOf(error)}`;
  if (TOLD.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof ConnectionLost) {
    return 'the connection to Postgres was lost; whether the command took effect is unknown';
  }
  const sqlState = sqlStateOf(error);
  return sqlState ? refusalOf(sqlState, error) : `unexpected error: ${reasonOf(error)}`;
}

const REFUSALS: Record<string, string> = {
  '42P01': 'the database schema is missing; run floodgate migrate',
  '42703': 'the database schema is out of date; run floodgate migrate',
  '42501': 'the user in DATABASE_URL lacks the permission for this',
  '25006': 'Postgres is read-only now (a standby?); nothing was changed',
  '57014': 'Postgres took too long; nothing was changed',
};

// From a server behind the one that was asked: our own connection is a ConnectionLost.
const CLUSTER_AWAY =
  'a server of the Citus cluster does not answer; whether the command took effect is unknown';

// The SQLSTATE and the constraint are all that is read: Postgres's own messages quote data.
function refusalOf(sqlState: string, { constraint }: Error & { constraint?: string }): string {
  if (sqlState.startsWith('08')) return CLUSTER_AWAY;
  const named = constraint ? `${sqlState}, ${constraint}` : sqlState;
  return REFUSALS[sqlState] ?? `Postgres refused the statement (SQLSTATE ${named})`;
}

const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
