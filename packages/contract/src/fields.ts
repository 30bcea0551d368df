import { Kind, Type, TypeRegistry, type TProperties } from '@sinclair/typebox';

// The fields of the schemas. A title that is one word names the schema in the OpenAPI document, and the type in generated clients.

/** A field with its description and an example. */
export const Text = (description: string, example: string) =>
  Type.String({ description, examples: [example] });
export const Whole = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });
export const Flag = (description: string, example: boolean) =>
  Type.Boolean({ description, examples: [example] });

/** An instant with fractional seconds and an explicit offset, e.g. 2026-11-21T09:00:00.123+00:00. */
export const Timestamp = (description: string, example = '2026-11-21T09:00:00.123+00:00') =>
  Type.String({ format: 'date-time', description, examples: [example] });

/** The same, or null. */
export const nullableTimestamp = (description: string, example: string | null) =>
  Type.Union([Timestamp(description, example ?? undefined), Type.Null()], {
    description,
    examples: [example],
  });

// TypeBox knows an enum only as a union. In the OpenAPI document a union becomes `anyOf`, which generated clients handle badly.
TypeRegistry.Set<{ enum: readonly unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value));

/** One of these texts, or null if that is among them. */
export const oneOf = <const Name extends string | null>(
  names: readonly Name[],
  options: { description?: string; examples?: readonly Name[] },
) => {
  const type = names.includes(null as Name) ? ['string', 'null'] : 'string';
  return Type.Unsafe<Name>({ [Kind]: 'OneOf', type, enum: names, ...options });
};

/** Data with exactly these fields. */
export const closed = <Fields extends TProperties>(title: string, fields: Fields) =>
  Type.Object(fields, { title, additionalProperties: false });
