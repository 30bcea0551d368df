import { Kind, Type, TypeRegistry } from '@sinclair/typebox';

// TypeBox knows an enum only as a union. In the OpenAPI document a union becomes `anyOf`, which generated clients handle badly.
TypeRegistry.Set<{ enum: readonly unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value));

/** One of these texts, or null if that is among them. */
export const oneOf = <const Name extends string | null>(
  names: readonly Name[],
  options: { description: string; examples?: readonly Name[] },
) => {
  const type = names.includes(null as Name) ? ['string', 'null'] : 'string';
  return Type.Unsafe<Name>({ [Kind]: 'OneOf', type, enum: names, ...options });
};
