import type { TSchema } from '@sinclair/typebox';

/**
 * Returns the sentence of the rule for the value at `pointer` (as "/registrations/3/emailAddress") in what `schema`
 * describes, e.g. "registrations[3].emailAddress: required, an e-mail address …". A title of several words is a whole
 * sentence already; of one, it is the schema's name.
 */
export function fieldRule(schema: unknown, pointer: string): string {
  let name = '';
  let found = schema as TSchema | undefined;
  for (const segment of pointer.split('/').slice(1)) {
    name += found?.['items'] ? `[${segment}]` : `${name && '.'}${segment}`;
    found = inside(found, segment);
  }
  if (found?.title?.includes(' ')) return found.title;
  const rule = found?.description ?? 'Not valid';
  return `${name}: ${rule.charAt(0).toLowerCase()}${rule.slice(1)}`;
}

function inside(schema: TSchema | undefined, segment: string): TSchema | undefined {
  const properties = schema?.['properties'] ?? {};
  return schema?.['items'] ?? (Object.hasOwn(properties, segment) ? properties[segment] : undefined);
}
