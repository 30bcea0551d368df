/** An environment variable is missing or invalid. The message names every such variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The operator's request is impossible. The command prints the message. */
export class Failure extends Error {
  override name: string = 'Failure';
}

/** The operator's request names something that does not exist. */
export class NotFound extends Failure {
  override name = 'NotFound';
}

/**
 * The input of an action is invalid. The message names every invalid field and its rule, never a value. The
 * field '' stands for the whole input.
 */
export class InvalidInput extends Error {
  override name = 'InvalidInput';
  readonly rules: Record<string, string>;

  constructor(rules: Record<string, string>) {
    super(
      Object.entries(rules)
        .map(([field, rule]) => (field === '' ? rule : `${field}: ${rule}`))
        .join('; '),
    );
    this.rules = rules;
  }
}

// A SQLSTATE never begins with E. The error codes of Node.js do, such as EPIPE.
const SQL_STATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;

/** Returns the SQLSTATE of an error from Postgres, or null for any other error. */
export function sqlStateOf(error: unknown) {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && SQL_STATE.test(code) ? code : null;
}

/** Returns the text without the credentials in its URLs. A password may contain "/" and "@". */
export function redactUrls(text: string) {
  return text.replaceAll(/:\/\/\S*@/g, '://…@');
}

export const NO_DATABASE = 'no such database';
const UNKNOWN_REASON = 'unknown reason';

const PROBLEMS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'host name lookup failed',
  ETIMEDOUT: 'no answer',
  ABORT_ERR: 'no answer',
  '28P01': 'user or password not accepted',
  '28000': 'user not accepted',
  '3D000': NO_DATABASE,
  '42P01': 'its schema is missing, run floodgate migrate',
  '53300': 'too many connections',
  '57P03': 'starting up or shutting down',
};

// Redis has no codes. Its messages may quote the command it received.
const REDIS_PROBLEMS: readonly (readonly [RegExp, string])[] = [
  [/^WRONGPASS|^ERR invalid password/, 'user or password not accepted'],
  [/^NOAUTH/, 'a password is needed'],
  [/^NOPERM/, 'the user lacks a permission'],
  [/^LOADING/, 'starting up'],
  [/^ERR (invalid )?DB index/, NO_DATABASE],
  [/^Connection is closed/, 'connection closed'],
];

/** Returns a short reason why a server cannot be reached, without credentials. */
export function reasonOf(error: unknown) {
  if (!(error instanceof Error)) return UNKNOWN_REASON;
  // The client of a Redis Cluster wraps the error of a node.
  const cause = (Reflect.get(error, 'lastNodeError') as Error | undefined) ?? error;
  const code = String(Reflect.get(cause, 'code'));
  if (/CERT|SIGNATURE/.test(code)) return `certificate not accepted (${code})`;
  const problem = PROBLEMS[code] ?? REDIS_PROBLEMS.find(([pattern]) => pattern.test(cause.message))?.[1];
  return problem ?? (redactUrls(cause.message) || UNKNOWN_REASON);
}
