export const NO_DATABASE = 'no such database';

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

// Redis has no codes. Its messages may quote what it was told.
const REDIS_PROBLEMS: readonly (readonly [RegExp, string])[] = [
  [/^WRONGPASS|^ERR invalid password/, 'user or password not accepted'],
  [/^NOAUTH/, 'a password is needed'],
  [/^NOPERM/, 'the user lacks a permission'],
  [/^LOADING/, 'starting up'],
  [/^ERR (invalid )?DB index/, NO_DATABASE],
  [/^Connection is closed/, 'connection closed'],
];

/** Returns why a connection failed, in a few words and without secrets. */
export function reasonOf(error: unknown): string {
  // A Redis Cluster's client wraps what its nodes said.
  const cause: unknown = (error instanceof Error && Reflect.get(error, 'lastNodeError')) || error;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  const message = cause instanceof Error ? cause.message : '';
  if (typeof code === 'string' && Object.hasOwn(PROBLEMS, code)) return PROBLEMS[code]!;
  if (typeof code === 'string' && /CERT|SIGNATURE/.test(code)) return `certificate not accepted (${code})`;
  return REDIS_PROBLEMS.find(([pattern]) => pattern.test(message))?.[1] ?? withoutCredentials(message);
}

function withoutCredentials(message: string): string {
  return message.replaceAll(/:\/\/\S*@/g, '://…@') || 'unknown reason';
}
