import { parse } from 'node:querystring';

/**
 * Returns the parameters of a query. `after[]=1` counts as `after` given as a list, so that the route's schema refuses it. As a name of its
 * own it would be ignored, and a list would silently start at its beginning.
 */
export function parseQuery(text: string): Record<string, unknown> {
  // Most requests have none.
  if (text === '') return {};
  // Without a limit: parameters beyond it would be ignored as well.
  const query: Record<string, unknown> = parse(text, '&', '=', { maxKeys: 0 });
  for (const name of Object.keys(query)) {
    const bracket = name.indexOf('[');
    if (bracket === -1) continue;
    const list = name.slice(0, bracket);
    query[list] = [query[list] ?? [], query[name]].flat();
    delete query[name];
  }
  return query;
}
