import { parse } from 'pg-connection-string';

/**
 * Returns whether Postgres's client can read the URL. It is asked here, so that it does not refuse the URL later on, without
 * naming the variable. A certificate that the URL names must be there.
 */
export function isPostgresUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return false;
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
