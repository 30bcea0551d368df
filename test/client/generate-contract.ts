import { readFileSync } from 'node:fs';
import {
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  BULK_ITEM_FAILURES,
  BULK_LIMIT,
  COMMON_FAILURES,
  escapeInvisible,
  fieldRule,
  RegistrationRequest,
  RESPONSE_CODES,
  type FailureCode,
} from '@floodgate/contract';
import { format, resolveConfig } from 'prettier';
import { operationsOf, type Document, type Schema } from '../harness/contract-document.ts';

// Makes packages/client/src/contract.ts of the OpenAPI document and the catalogue of response codes. Partners
// install the file, and browsers load it, so it imports nothing.

const HEAD =
  '// Generated from the OpenAPI document by `npm test -- contract -u`. Needs no other file, so that browsers can load it.';

/** Schemas that the client does not need: answers, whose data has its own types, and bodies that it builds itself. */
const IS_ANSWER =
  /(?:Answer|Failure\d+|BulkItem|RegisteredItem|RefusedItem|BulkRegistrationRequest|WebhookReplay|WebhookRotation)$/;

/** Schemas with all fields of another one, and more. */
const BASES: Record<string, string> = {
  RegistrationEntry: 'RegistrationStatus',
  RegistrationRequest: 'Attendee',
  WebhookRegistrationEntry: 'RegistrationEntry',
  WebhookRequest: 'WebhookChange',
  WebhookWithSecret: 'Webhook',
};

/** Resolves to the client's contract as TypeScript, formatted. */
export async function generateClientContract(document: Document): Promise<string> {
  const { schemas = {} } = document.components;
  const types = Object.keys(schemas)
    .filter((name) => !IS_ANSWER.test(name))
    .map((name) => declarationOf(name, schemas));
  const text = [HEAD, ...catalogueOf(document), ...types].join('\n');
  const config = await resolveConfig(import.meta.filename);
  return format(text, { ...config, parser: 'typescript' });
}

const PEOPLE = new URL('../../packages/contract/src/people.ts', import.meta.url);

/**
 * Resolves to packages/client/src/rules.ts: the file that normalizes the texts about people, as it is in the
 * service, and the rules of a registration's fields from its schema.
 */
export async function generateClientRules(): Promise<string> {
  const { properties, required } = RegistrationRequest;
  const rules = Object.entries(properties).map(([name, schema]) => {
    const of = (keyword: string) => (schema as Record<string, unknown>)[keyword];
    const keywords = ['minLength', 'maxLength', 'minimum', 'maximum', 'pattern', 'format'];
    const limits = Object.fromEntries(keywords.map((keyword) => [keyword, of(keyword)]));
    const isRequired = required.includes(name as never);
    const sentence = fieldRule(RegistrationRequest, `/${name}`);
    return [name, { isRequired, type: [of('type')].flat(), ...limits, sentence }];
  });
  const table = escapeInvisible(JSON.stringify(Object.fromEntries(rules)));
  const text = [
    '// Generated from packages/contract/src/people.ts and the schema of Register For Event by `npm test -- contract -u`.',
    readFileSync(PEOPLE, 'utf8'),
    '/** The rules of the fields of a registration, and the sentence with which the service refuses each. */',
    `export const REGISTRATION_RULES = ${table} as const;`,
  ].join('\n');
  const config = await resolveConfig(import.meta.filename);
  return format(text, { ...config, parser: 'typescript' });
}

function catalogueOf(document: Document): string[] {
  const catalogue = Object.entries(RESPONSE_CODES)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([code, { message, retryAfterSeconds }]) => {
      return `'${code}': ${retryAfterSeconds === undefined ? 'final' : 'retryable'}(${JSON.stringify(message)}),`;
    });
  const failures = operationsOf(document).map((operation) => {
    const codes = failuresOf(operation.responses).filter(
      (code) => !COMMON_FAILURES.includes(code as FailureCode),
    );
    return `${operation.operationId}: [...COMMON${codes.map((code) => `, '${code}'`).join('')}],`;
  });
  return [
    'const final = <Message extends string>(message: Message) => ({ message, retryable: false }) as const;',
    'const retryable = <Message extends string>(message: Message) => ({ message, retryable: true }) as const;',
    '/** Every response code: its default message, and whether a retry may help. */',
    `export const RESPONSE_CODES = {${catalogue.join('\n')}} as const;`,
    'export type ResponseCode = keyof typeof RESPONSE_CODES;',
    `export type FailureCode = Exclude<ResponseCode, '00'>;`,
    `const COMMON = ${JSON.stringify(COMMON_FAILURES)} as const;`,
    '/** The failures of each operation. */',
    `export const OPERATION_FAILURES = {${failures.toSorted().join('\n')}} as const satisfies Record<string, readonly FailureCode[]>;`,
    'export type Operation = keyof typeof OPERATION_FAILURES;',
    'export type FailureOf<Name extends Operation> = (typeof OPERATION_FAILURES)[Name][number];',
    '/** The failures of one registration of a bulk call. */',
    `export const BULK_ITEM_FAILURES = ${JSON.stringify(BULK_ITEM_FAILURES)} as const;`,
    '/** Maximum number of registrations in one bulk call. */',
    `export const BULK_LIMIT = ${BULK_LIMIT};`,
    '/** Maximum size of the body of a bulk call, and of any other call, in bytes. */',
    `export const BULK_BODY_LIMIT_BYTES = ${BULK_BODY_LIMIT_BYTES};`,
    `export const BODY_LIMIT_BYTES = ${BODY_LIMIT_BYTES};`,
    '/** The three fields of every answer. */',
    'export interface Envelope<Data = unknown> { responseCode: string; responseMessage: string; responseData: Data }',
    `export type WebhookEventType = WebhookChanges['data']['entries'][number]['type'];`,
  ];
}

/** The failures that the answers of an operation are described with: "90: Overloaded …". */
function failuresOf(responses: Record<string, { description: string }>): string[] {
  const texts = Object.values(responses).map(({ description }) => description);
  const codes = texts.flatMap((text) => Array.from(text.matchAll(/^(\d\d): /gm), ([, code]) => code!));
  return [...new Set(codes)].filter((code) => code !== '00').toSorted();
}

/** Returns `export interface Name { … }` for a schema with properties, else a type alias. */
function declarationOf(name: string, schemas: Record<string, Schema>): string {
  const schema = schemas[name]!;
  const base = BASES[name];
  const comment = commentOf(schema);
  if (!schema.properties) return `${comment}export type ${name} = ${typeOf(schema)};`;
  const fields = fieldsOf(schema, base ? fieldsOf(schemas[base]!) : []);
  return `${comment}export interface ${name} ${base ? `extends ${base} ` : ''}{\n${fields.join('\n')}\n}`;
}

/** Returns the fields of a schema that its base does not have. A field that only reads differently is the base's. */
function fieldsOf({ properties = {}, required = [] }: Schema, ofBase: string[] = []): string[] {
  const declared = (field: string) => field.split('\n').at(-1);
  return Object.entries(properties)
    .map(([name, schema]) => {
      return `${commentOf(schema)}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`;
    })
    .filter((field) => !ofBase.some((other) => declared(other) === declared(field)));
}

const commentOf = ({ description }: Schema) =>
  description === undefined ? '' : `/** ${description as string} */\n`;

const NAMED = '#/components/schemas/';

/** Returns the type of a schema. */
const isEventType = ({ enum: values = [] }: Schema) => values.includes('registration.confirmed');

export function typeOf(schema: Schema): string {
  const {
    $ref,
    const: value,
    enum: values = value === undefined ? undefined : [value],
    anyOf,
    items,
    properties,
    type,
  } = schema;
  if ($ref !== undefined) return $ref.slice(NAMED.length);
  if (values) return values.map((one) => JSON.stringify(one)).join(' | ');
  if (anyOf) return anyOf.map(typeOf).join(' | ');
  if (items) return `(${isEventType(items) ? 'WebhookEventType' : typeOf(items)})[]`;
  if (properties) return `{\n${fieldsOf(schema).join('\n')}\n}`;
  return [type].flat().join(' | ').replace('integer', 'number');
}
