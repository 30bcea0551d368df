import { Kind, Type, TypeRegistry, type TProperties, type TSchema, type TString } from '@sinclair/typebox';
import { UUID_PATTERN } from './formats.ts';

// Builders of schemas. A one-word title becomes the name of the schema in the OpenAPI document, and of the
// type in generated clients.

/** A field with its description, an example and its rules. */
export const Text = (description: string, example: string, rules: object = {}) =>
  Type.String({ ...rules, description, examples: [example] });
export const Whole = (description: string, example: number, rules: object = {}) =>
  Type.Integer({ ...rules, description, examples: [example] });
export const Flag = (description: string, example: boolean) =>
  Type.Boolean({ description, examples: [example] });

/** A time with fractional seconds and an explicit offset, e.g. 2026-11-21T09:00:00.123+00:00. */
export const Timestamp = (description: string, example = '2026-11-21T09:00:00.123+00:00') =>
  Text(description, example, { format: 'date-time' });

/** A value of the type, or null. */
export const nullable = <Schema extends TSchema = TString>(
  description: string,
  example: unknown,
  type = Type.String() as TSchema as Schema,
) => Type.Union([type, Type.Null()], { description, examples: [example] });

/** A UUID, as Postgres prints it. */
export const Uuid = (description: string, example = '0197a3c2-5d1e-7c44-9b1f-0a2b3c4d5e6f') =>
  Text(description, example, { pattern: UUID_PATTERN });

export const nullableTimestamp = (description: string, example: string | null = null) =>
  nullable(description, example, Type.String({ format: 'date-time' }));

// TypeBox has enums only as unions. In the OpenAPI document a union becomes `anyOf`, which generated clients
// handle badly.
TypeRegistry.Set<{ enum: readonly unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value));

/** One of these texts, or null if it is listed. An optional parameter has no example, because tools would send it. */
export const oneOf = <const Name extends string | null>(
  names: readonly Name[],
  description: string,
  ...examples: Name[]
) => {
  const type = names.includes(null as Name) ? ['string', 'null'] : 'string';
  const example = examples.length > 0 ? { examples } : {};
  return Type.Unsafe<Name>({ [Kind]: 'OneOf', type, enum: names, description, ...example });
};

/** An object that can have additional fields. */
export const open = <Fields extends TProperties>(title: string, fields: Fields, description?: string) =>
  Type.Object(fields, { title, ...(description !== undefined && { description }) });

/** An object with exactly these fields. */
export const closed = <Fields extends TProperties>(title: string, fields: Fields) =>
  Type.Object(fields, { title, additionalProperties: false });

/**
 * Returns the rule of a schema for the value at `pointer` (such as "/registrations/3/emailAddress") as a
 * sentence, e.g. "registrations[3].emailAddress: required, an e-mail address …". A title of several words is
 * the complete sentence. A one-word title is the name of the schema.
 */
export function fieldRule(schema: unknown, pointer: string) {
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
