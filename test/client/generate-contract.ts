import {
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  BULK_ITEM_FAILURES,
  BULK_LIMIT,
  COMMON_FAILURES,
  RESPONSE_CODES,
  WEBHOOK_EVENT_TYPES,
  type FailureCode,
} from '@floodgate/contract';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { operationsOf, type Document, type Schema } from '../harness/contract-document.ts';

// Makes packages/client/src/contract.ts of the OpenAPI document and the catalogue of response codes. Partners install the file, and
// browsers load it, so it imports nothing.

const HEAD =
  '// Generated from the OpenAPI document by `npm test -- contract -u`. Needs no other file, so that browsers can load it.';

/** Schemas that the client does not need: answers, whose data has its own types, and bodies that it builds itself. */
const IS_ANSWER =
  /(?:Answer|Failure\d+|BulkItem|RegisteredItem|RefusedItem|BulkRegistrationRequest|WebhookReplay|WebhookRotation)$/;
/** What a type does not say. */
const DROPPED = new Set(['title', 'examples', 'format', 'pattern', 'default', 'additionalProperties']);

/** Resolves to the client's contract as TypeScript, formatted. */
export async function generateClientContract(document: Document): Promise<string> {
  const text = [HEAD, ...catalogueOf(document), ...(await typesOf(document))].join('\n');
  const config = await resolveConfig(import.meta.filename);
  return format(text, { ...config, parser: 'typescript' });
}

function catalogueOf(document: Document): string[] {
  const catalogue = Object.entries(RESPONSE_CODES)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([code, { message, retryable = false }]) => `'${code}': ${JSON.stringify({ message, retryable })},`);
  const failures = operationsOf(document).map((operation) => {
    const codes = failuresOf(operation.responses).filter(
      (code) => !COMMON_FAILURES.includes(code as FailureCode),
    );
    return `${operation.operationId}: [...COMMON${codes.map((code) => `, '${code}'`).join('')}],`;
  });
  return [
    `const CATALOGUE = {${catalogue.join('\n')}} as const;`,
    'export type ResponseCode = keyof typeof CATALOGUE;',
    `export type FailureCode = Exclude<ResponseCode, '00'>;`,
    '/** Every response code: its default message, and whether a retry may help. */',
    'export const RESPONSE_CODES: Readonly<Record<ResponseCode, { message: string; retryable: boolean }>> = CATALOGUE;',
    `const COMMON = ${JSON.stringify(COMMON_FAILURES)} as const;`,
    '/** The failures of each operation. */',
    `export const OPERATION_FAILURES = {${failures.toSorted().join('\n')}} as const satisfies Record<string, readonly FailureCode[]>;`,
    'export type Operation = keyof typeof OPERATION_FAILURES;',
    'export type FailureOf<Name extends Operation> = (typeof OPERATION_FAILURES)[Name][number];',
    '/** The failures of one registration of a bulk call. */',
    `export const BULK_ITEM_FAILURES = ${JSON.stringify(BULK_ITEM_FAILURES)} as const;`,
    '/** Most registrations of one bulk call. */',
    `export const BULK_LIMIT = ${BULK_LIMIT};`,
    '/** Largest body of a bulk call, and of any other call, in bytes. */',
    `export const BULK_BODY_LIMIT_BYTES = ${BULK_BODY_LIMIT_BYTES};`,
    `export const BODY_LIMIT_BYTES = ${BODY_LIMIT_BYTES};`,
    `export type WebhookEventType = ${WEBHOOK_EVENT_TYPES.map((type) => `'${type}'`).join(' | ')};`,
    '/** The three fields of every answer. */',
    'export interface Envelope<Data = unknown> { responseCode: string; responseMessage: string; responseData: Data }',
  ];
}

/** The failures that the answers of an operation are described with: "90: Overloaded …". */
function failuresOf(responses: Record<string, { description: string }>): string[] {
  const texts = Object.values(responses).map(({ description }) => description);
  const codes = texts.flatMap((text) => Array.from(text.matchAll(/^(\d\d): /gm), ([, code]) => code!));
  return [...new Set(codes)].filter((code) => code !== '00').toSorted();
}

async function typesOf(document: Document): Promise<string[]> {
  const { schemas = {} } = document.components;
  const named = Object.entries(schemas).filter(([name]) => !IS_ANSWER.test(name));
  const plain = Object.fromEntries(named.map(([name, schema]) => [name, withoutDetails(schema)]));
  const dataOf = Object.fromEntries(
    operationsOf(document).map((operation) => [
      operation.operationId,
      dataSchemaOf(operation.operationId, schemas),
    ]),
  );
  const OperationData = {
    type: 'object',
    description: 'The data of each successful answer.',
    properties: dataOf,
    required: Object.keys(dataOf),
  };
  const openapi = {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    paths: {},
    components: { schemas: { ...plain, OperationData } },
  };
  const ast = await openapiTS(openapi as never, { defaultNonNullable: false, silent: true });
  const components = ast.find(
    (node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components',
  ) as ts.InterfaceDeclaration;
  const all = components.members.find(
    (member) => ts.isPropertySignature(member) && (member.name as ts.Identifier).text === 'schemas',
  ) as ts.PropertySignature;
  return (all.type as ts.TypeLiteralNode).members.map((member) =>
    declarationOf(member as ts.PropertySignature),
  );
}

/** Returns `export interface Name { … }` for a schema with properties, else a type alias. */
function declarationOf(member: ts.PropertySignature): string {
  const name = (member.name as ts.Identifier).text;
  const comments = ts.getSyntheticLeadingComments(member) ?? [];
  const type = astToString([member.type!]).trim();
  const [, description = ''] = /@description ([^]*?)\s*$/.exec(comments[0]?.text ?? '') ?? [];
  const declaration = ts.isTypeLiteralNode(member.type!)
    ? `export interface ${name} ${type}`
    : `export type ${name} = ${type};`;
  const text = declaration
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1')
    .replaceAll('/** @description ', '/** ')
    .replaceAll('Record<string, never>[]', 'Envelope[]')
    .replaceAll(/types(\??): \([^)]+\)\[\]/g, 'types$1: WebhookEventType[]');
  return description ? `/** ${description} */\n${text}` : text;
}

/** The schema of an operation's data, as its answer has it. */
function dataSchemaOf(operationId: string, schemas: Record<string, Schema>): Schema {
  const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Answer`;
  const { responseData } = schemas[name]!.properties!;
  return withoutDetails(
    operationId === 'registerInBulk' ? { type: 'array', items: { type: 'object' } } : responseData!,
  );
}

/** Returns a schema with what types can say. */
function withoutDetails(schema: Schema, isProperties = false): Schema {
  const entries = Object.entries(schema).filter(([key]) => isProperties || !DROPPED.has(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, visit(key, value)]));
}

function visit(key: string, value: unknown): unknown {
  if (Array.isArray(value))
    return key === 'enum' || key === 'required' ? value : value.map((item) => visit('', item));
  return value !== null && typeof value === 'object'
    ? withoutDetails(value as Schema, key === 'properties')
    : value;
}
