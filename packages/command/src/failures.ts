import { CommanderError } from 'commander';
import { ConfigError } from '@floodgate/service';
import { reasonOf } from '@floodgate/queue/connection-problem';
import { ConnectionFailed, ConnectionLost } from '@floodgate/database';

export { reasonOf };

/** Something that the operator asked for cannot be done. The message is the line that they read. */
export class Failure extends Error {
  override name = 'Failure';
}

/** A server did not answer. Trying again later may help. */
export class Unreachable extends Failure {
  override name = 'Unreachable';
}

/** The command line is wrong. */
export class InputError extends Error {
  override name = 'InputError';
}

/** How a command ends: the line on standard error (null: none) and the exit code. */
export interface Ending {
  line: string | null;
  exitCode: number;
}

const WRONG_INPUT = 2;
const FAILED = 1;

/** Says in one line how a failed command ends. Never a stack trace, never a password. */
export function endingOf(error: unknown): Ending {
  if (error instanceof CommanderError) return endingOfCommander(error);
  return { line: oneLine(sentenceOf(error)), exitCode: isWrongInput(error) ? WRONG_INPUT : FAILED };
}

function isWrongInput(error: unknown): error is InputError | ConfigError {
  return error instanceof InputError || error instanceof ConfigError;
}

// Commander also throws to end --help and --version, which are no failures.
function endingOfCommander(error: CommanderError): Ending {
  if (error.exitCode === 0) return { line: null, exitCode: 0 };
  if (error.code === 'commander.help') {
    return { line: 'a command is missing; --help lists what there is', exitCode: WRONG_INPUT };
  }
  return { line: oneLine(error.message.replace(/^error: /, '')), exitCode: WRONG_INPUT };
}

function sentenceOf(error: unknown): string {
  if (error instanceof ConnectionFailed) {
    return `cannot connect to Postgres (DATABASE_URL): ${reasonOf(error.cause)}`;
  }
  if (error instanceof ConnectionLost) {
    return 'the connection to Postgres was lost; whether the command took effect is unknown';
  }
  const code = codeOf(error);
  if (/^[0-9A-Z]{5}$/.test(code)) return refusalOf(code, textIn(error, 'constraint'));
  return error instanceof Failure || isWrongInput(error)
    ? error.message
    : `unexpected error: ${reasonOf(error)}`;
}

const CONSTRAINTS: Record<string, string> = {
  secret_keys_partner_id_fkey: 'no such partner',
  event_grants_partner_id_fkey: 'no such partner',
  event_grants_event_id_fkey: 'no such event',
  tickets_event_id_fkey: 'no such event',
  partners_name_key: 'a partner of this name already exists',
  sales_window_is_ordered: 'the sale must start before it ends',
  no_seat_is_sold_twice: 'the capacity cannot be less than the seats that are taken already',
};

const REFUSALS: Record<string, string> = {
  '42P01': 'the database schema is missing; run floodgate migrate',
  '42703': 'the database schema is out of date; run floodgate migrate',
  '42501': 'the user in DATABASE_URL lacks the permission for this',
  '25006': 'Postgres is read-only now (a standby?); nothing was changed',
  '57014': 'Postgres took too long; nothing was changed',
};

// The SQLSTATE and the constraint are all that is read: Postgres's own messages quote data.
function refusalOf(code: string, constraint: string): string {
  const because = CONSTRAINTS[constraint] ?? REFUSALS[code];
  if (because) return because;
  return `Postgres refused the statement (SQLSTATE ${code}${constraint && `, ${constraint}`})`;
}

/** The SQLSTATE or system error code, or "". */
export function codeOf(error: unknown): string {
  return textIn(error, 'code');
}

function textIn(error: unknown, property: string): string {
  const value: unknown = error instanceof Error ? Reflect.get(error, property) : undefined;
  return typeof value === 'string' ? value : '';
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
}
