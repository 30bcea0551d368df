import type { TSchema } from '@sinclair/typebox';

/** Returns a value that the schema allows, made of its parts' first examples. */
export function exampleOf(schema: TSchema): unknown {
  if (schema['examples']) return schema['examples'][0];
  if ('const' in schema) return schema['const'];
  if (schema['anyOf']) return exampleOf(schema['anyOf'][0]);
  if (schema['type'] === 'array') return [exampleOf(schema['items'])];
  if (schema['type'] === 'null') return null;
  const parts = Object.entries<TSchema>(schema['properties'] ?? {});
  return Object.fromEntries(parts.map(([name, part]) => [name, exampleOf(part)]));
}
