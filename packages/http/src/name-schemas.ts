import { NOT_PORTABLE } from '@floodgate/contract';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = Record<string, Json>;

/** A title that is one word is the name of what it stands on. */
const NAME = /^[A-Z][A-Za-z0-9]*$/;
/** Below these are values, not schemas. */
const VALUES = ['example', 'examples', 'enum', 'const', 'default'];

/**
 * Returns an OpenAPI document in which every schema with a name stands once, under components/schemas, and every place
 * where it is used refers to it. Patterns are in the form that other languages can read. Throws where two schemas have one name.
 */
export function nameSchemas(document: object): object {
  const named: JsonObject = {};
  const { components, paths, webhooks } = document as Record<'components' | 'paths' | 'webhooks', JsonObject>;
  const described = { paths: visit(paths, named), webhooks: visit(webhooks, named) };
  const schemas = Object.fromEntries(Object.entries(named).toSorted(([a], [b]) => a.localeCompare(b)));
  return { ...document, ...described, components: { ...components, schemas } };
}

function visit(node: Json, named: JsonObject): Json {
  if (Array.isArray(node)) return node.map((item) => visit(item, named));
  if (node === null || typeof node !== 'object') return node;
  const parts = Object.entries(node).filter(([key, part]) => !isTitle(key, part));
  const schema = Object.fromEntries(parts.map(([key, part]) => [key, visitPart(node, key, part, named)]));
  const { title } = node;
  return typeof title === 'string' && NAME.test(title) ? refer(title, schema, named) : schema;
}

// One that is not text is a field of that name. One of several words is a sentence for callers that send a wrong value, and its
// description says the same.
const isTitle = (key: string, part: Json) => key === 'title' && typeof part === 'string';

function visitPart(node: JsonObject, key: string, part: Json, named: JsonObject): Json {
  if (VALUES.includes(key)) return part;
  if (key === 'pattern' && typeof part === 'string') return part.replace(NOT_PORTABLE, '');
  // A parameter has taken description and example out of its schema: what is left goes by no name.
  const isNameless = key === 'schema' && 'in' in node;
  return visit(isNameless ? { ...(part as JsonObject), title: '' } : part, named);
}

function refer(name: string, nameless: JsonObject, named: JsonObject): Json {
  // Some generators name a type by its title, others by its place.
  const schema = { title: name, ...nameless };
  const known = named[name];
  if (known && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`two different schemas are called ${name}`);
  named[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}
