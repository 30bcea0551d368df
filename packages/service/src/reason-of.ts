/** Returns the text without the credentials of the URLs in it. A password may hold "/" and "@". */
export function redactUrls(text: string): string {
  return text.replaceAll(/:\/\/\S*@/g, '://…@');
}

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

/** Returns in a few words why a server cannot be reached. They hold no credentials. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return UNKNOWN_REASON;
  // A Redis Cluster's client wraps what its nodes said.
  const cause = (Reflect.get(error, 'lastNodeError') as Error | undefined) ?? error;
  return byCode(Reflect.get(cause, 'code')) ?? byMessage(cause.message);
}

const UNKNOWN_REASON = 'unknown reason';

function byCode(code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined;
  return /CERT|SIGNATURE/.test(code) ? `certificate not accepted (${code})` : PROBLEMS[code];
}

function byMessage(message: string): string {
  const known = REDIS_PROBLEMS.find(([pattern]) => pattern.test(message))?.[1];
  return known ?? (redactUrls(message) || UNKNOWN_REASON);
}
