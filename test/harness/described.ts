import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Document, Operation, Schema } from './contract-document.ts';

/** The committed document: contract.test.ts holds it and the one that is served together. */
const file = new URL('../../apps/docs/public/openapi.json', import.meta.url);

/** Of HTTP itself, and the same on every answer. */
const OF_HTTP = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'];

let checks: ReturnType<typeof compile> | undefined;

function compile() {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const paths = Object.entries(document.paths).map(([path, methods]) => ({
    // Fixed names before parameters, as the API's router takes them.
    isFixed: !path.includes('{'),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods,
  }));
  const check = ({ $ref }: Schema): ValidateFunction => {
    const name = `document${$ref}`;
    return ajv.getSchema(name) ?? ajv.compile({ $ref: name });
  };
  return { paths: paths.toSorted((a, b) => Number(b.isFixed) - Number(a.isFixed)), check };
}

/** Throws where the OpenAPI document knows the operation, but not this answer: its status, a header, or its body. */
export function assertDescribed(
  method: string,
  url: string,
  { status, headers, body }: { status: number; headers: Headers; body: unknown },
): void {
  checks ??= compile();
  const path = url.split('?', 1)[0]!;
  const operation: Operation | undefined = checks.paths.find(({ pattern }) => pattern.test(path))?.methods[
    method.toLowerCase()
  ];
  if (!operation) return;
  const answer = `${method} ${path} ${status}`;
  const described = operation.responses[status];
  if (!described) throw new Error(`${answer} is not in the OpenAPI document`);
  const known = [...OF_HTTP, ...Object.keys(described.headers).map((name) => name.toLowerCase())];
  const undescribed = [...headers.keys()].filter((name) => !known.includes(name));
  if (undescribed.length > 0) throw new Error(`${answer}: headers not described: ${undescribed.join(', ')}`);
  const check = checks.check(described.content['application/json'].schema);
  if (!check(body)) throw new Error(`${answer}: not as described: ${JSON.stringify(check.errors)}`);
}
