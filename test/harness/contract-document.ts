import { readFileSync } from 'node:fs';

// Reads the OpenAPI document for tests.

/** The part of a JSON schema that tests read. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: Schema;
  anyOf?: Schema[];
  [keyword: string]: unknown;
}

interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: { responseCode: string } }>;
}

export interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: Schema;
  example: unknown;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { required?: boolean; content: { 'application/json': Media } };
  responses: Record<
    string,
    {
      description: string;
      headers: Record<string, { description: string; schema: Schema }>;
      content: { 'application/json': Media };
    }
  >;
}

export interface Document {
  openapi: string;
  info: { version: string; license: object; contact: { name: string; url?: string } };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas?: Record<string, Schema> };
}

/** Returns the committed document. contract.test.ts compares it with the served one. */
export function readDocument(file = '../../apps/docs/public/openapi.json'): Document {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as Document;
}

/** Returns every operation, with its method and path. */
export function operationsOf(document: Document): (Operation & { method: string; path: string })[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
}

/** Returns the schema, or the one that it references. */
export function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return document.components.schemas![schema.$ref.slice('#/components/schemas/'.length)]!;
}
