// No class of SQLSTATEs begins with an E, as the codes of Node.js do: EPIPE is none.
const SQL_STATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;

/** Returns the SQLSTATE with which Postgres refused a statement, or null where the error is of another kind. */
export function sqlStateOf(error: unknown): string | null {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && SQL_STATE.test(code) ? code : null;
}
