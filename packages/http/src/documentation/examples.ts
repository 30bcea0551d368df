import type { TSchema } from '@sinclair/typebox';
import { BODY_LIMIT_BYTES, fieldRule, RESPONSE_CODES, type ResponseCode } from '@floodgate/contract';

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

/** Returns the message of an example, where what is really answered says more than the catalogue. */
export function exampleMessage(code: ResponseCode, status: number, body?: TSchema): string {
  if (code === '10') return MALFORMED[status] ?? notReadable(body);
  if (code === '50') return 'Too many requests: at most 100 a second';
  if (code !== '11' || !body) return RESPONSE_CODES[code].message;
  // As if the first two were wrong: every field that is wrong is named.
  const fields = Object.keys(body['properties']).slice(0, 2);
  return fields.map((name) => fieldRule(body, `/${name}`)).join('; ');
}

const MALFORMED: Record<number, string> = {
  413: `The body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`,
  415: 'The body must be sent as application/json',
  431: 'The headers are too large',
};

const notReadable = (body?: TSchema) =>
  body ? 'The body is not well-formed JSON' : 'The request is not well-formed HTTP';
