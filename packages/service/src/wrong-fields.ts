import type { TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** Returns the fields of the value that break the schema's rules, each with its rule as the schema describes it. */
export function wrongFields(schema: TObject, value: unknown): Record<string, string> {
  const names = [...Value.Errors(schema, value)].map((error) => error.path.split('/')[1]!);
  return Object.fromEntries(names.map((name) => [name, schema.properties[name]?.description ?? 'not valid']));
}
