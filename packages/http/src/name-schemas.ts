import { NOT_PORTABLE } from '@floodgate/contract';

/** A title that is one word is the name of what it stands on. Others are sentences for callers that send a wrong value. */
const NAME = /^[A-Z][A-Za-z0-9]*$/;

/** Tells a schema from an example, which may have a title as well. */
const isSchema = (node: unknown): node is { title?: unknown } =>
  typeof node === 'object' && node !== null && ['type', 'anyOf', 'const'].some((key) => key in node);

/**
 * Returns an OpenAPI document in which every schema with a name stands once, under components/schemas, and every place
 * where it is used refers to it. Patterns are in the form that other languages can read. Throws where two schemas have one name.
 */
export function nameSchemas(document: object): object {
  const named: Record<string, object> = {};
  // From the innermost schema outwards.
  const described = JSON.parse(JSON.stringify(document), function name(this: object, key, node: unknown) {
    if (key === 'pattern' && typeof node === 'string') return node.replace(NOT_PORTABLE, '');
    if (!isSchema(node) || typeof node.title !== 'string') return node;
    const { title, ...nameless } = node;
    // A parameter has taken description and example out of its schema: what is left goes by no name.
    if (!NAME.test(title) || (key === 'schema' && 'in' in this)) return nameless;
    // Some generators name a type by its title, others by its place.
    const schema = { title, ...nameless };
    if (JSON.stringify((named[title] ??= schema)) !== JSON.stringify(schema))
      throw new Error(`two different schemas are called ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  }) as { components: object };
  const schemas = Object.fromEntries(Object.entries(named).toSorted(([a], [b]) => a.localeCompare(b)));
  return { ...described, components: { ...described.components, schemas } };
}
