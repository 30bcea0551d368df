/** The environment holds a value that cannot be used. The message names every such variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Something that an operator asked for cannot be done. The message is the line that they read. */
export class Failure extends Error {
  override name = 'Failure';
}

/**
 * The input of an action is invalid. The message names every invalid field with its rule, and never a value. The rule of the field
 * '' is about the input as a whole.
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

// No class of SQLSTATEs begins with an E, as the codes of Node.js do: EPIPE is none.
const SQL_STATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;

/** Returns the SQLSTATE with which Postgres refused a statement, or null where the error is of another kind. */
export function sqlStateOf(error: unknown): string | null {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && SQL_STATE.test(code) ? code : null;
}

/** Returns the text without the credentials of the URLs in it. A password may hold "/" and "@". */
export function redactUrls(text: string): string {
  return text.replaceAll(/:\/\/\S*@/g, '://…@');
}

export const NO_DATABASE = 'no such database';
const UNKNOWN_REASON = 'unknown reason';

const PROBLEMS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
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

/** Returns in a few words why a server cannot be reached. They hold no credentials. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return UNKNOWN_REASON;
  // A Redis Cluster's client wraps what its nodes said.
  const cause = (Reflect.get(error, 'lastNodeError') as Error | undefined) ?? error;
  const code = String(Reflect.get(cause, 'code'));
  if (/CERT|SIGNATURE/.test(code)) return `certificate not accepted (${code})`;
  const known = PROBLEMS[code] ?? REDIS_PROBLEMS.find(([pattern]) => pattern.test(cause.message))?.[1];
  return known ?? (redactUrls(cause.message) || UNKNOWN_REASON);
}
