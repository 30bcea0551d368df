import {
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  BULK_ITEM_FAILURES,
  BULK_LIMIT,
  COMMON_FAILURES,
  RESPONSE_CODES,
  type FailureCode,
} from '@floodgate/contract';
import { format, resolveConfig } from 'prettier';
import { operationsOf, type Document, type Schema } from '../harness/contract-document.ts';

// Makes packages/client/src/contract.ts of the OpenAPI document and the catalogue of response codes. Partners install the file, and
// browsers load it, so it imports nothing.

const HEAD =
  '// Generated from the OpenAPI document by `npm test -- contract -u`. Needs no other file, so that browsers can load it.';

/** Schemas that the client does not need: answers, whose data has its own types, and bodies that it builds itself. */
const IS_ANSWER =
  /(?:Answer|Failure\d+|BulkItem|RegisteredItem|RefusedItem|BulkRegistrationRequest|WebhookReplay|WebhookRotation)$/;

const TICKET_OF_EVENT = ['organizedEventID', 'organizedEventTicketID'];

/** A schema, and those of its fields that another schema also has. All by default. */
type Base = readonly [schema: string, ...fields: string[]];

const OF_TICKET: Base = ['RegistrationStatus', ...TICKET_OF_EVENT];

/** Schemas that have the fields of other ones. */
const BASES: Record<string, readonly Base[]> = {
  AttendeePass: [OF_TICKET],
  HeldSeat: [['RegistrationStatus', 'passReference', 'state', 'organizedEventTicketID']],
  RegistrationEntry: [['RegistrationStatus']],
  RegistrationRequest: [['Attendee']],
  RegistrationStatus: [OF_TICKET],
  RevokedPasses: [['RegistrationList', 'cursor', 'more']],
  WaitingContact: [['Attendee', 'fullName', 'emailAddress']],
  WaitingRequest: [['RegistrationRequest', 'organizedEventTicketID', 'partnerReference']],
  WebhookAdmissionEntry: [OF_TICKET, ['Admission', 'gate', 'dateAdmitted']],
  WebhookChange: [['Webhook', 'url', 'description', 'types', 'entriesPerMessage', 'include']],
  WebhookRegistrationEntry: [['RegistrationEntry']],
  WebhookRequest: [['WebhookChange']],
  WebhookTicketEntry: [OF_TICKET],
  WebhookWaitingEntry: [['WebhookTicketEntry', ...TICKET_OF_EVENT, 'dateChanged']],
  WebhookWithSecret: [['Webhook']],
};

/** Resolves to the client's contract as TypeScript, formatted. */
export async function generateClientContract(document: Document): Promise<string> {
  const { schemas = {} } = document.components;
  const types = Object.keys(schemas)
    .filter((name) => !IS_ANSWER.test(name))
    .map((name) => declarationOf(name, schemas));
  const ofTicket = fieldsOf(schemas['RegistrationStatus']!, TICKET_OF_EVENT);
  const shared = `/** An event and one of its tickets. */\ninterface TicketOfEvent {\n${ofTicket.join('\n')}\n}`;
  const text = [HEAD, ...catalogueOf(document), shared, ...types].join('\n');
  const config = await resolveConfig(import.meta.filename);
  return format(text, { ...config, parser: 'typescript' });
}

function catalogueOf(document: Document): string[] {
  const catalogue = Object.entries(RESPONSE_CODES)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([code, { message, retryAfterSeconds }]) => {
      return `'${code}': ${JSON.stringify({ message, retryable: retryAfterSeconds !== undefined })},`;
    });
  const failures = operationsOf(document).map((operation) => {
    const codes = failuresOf(operation.responses).filter(
      (code) => !COMMON_FAILURES.includes(code as FailureCode),
    );
    return `${operation.operationId}: [...COMMON${codes.map((code) => `, '${code}'`).join('')}],`;
  });
  return [
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

/** Returns `export interface Name { … }` for a schema with properties of its own, else a type alias. */
function declarationOf(name: string, schemas: Record<string, Schema>): string {
  const schema = schemas[name]!;
  const comment = commentOf(schema);
  if (!schema.properties) return `${comment}export type ${name} = ${typeOf(schema)};`;
  const bases = BASES[name] ?? [];
  // Such as a change of a webhook, which may lack each field of the webhook.
  const isPartial = bases.length > 0 && !schema.required;
  const own = fieldsOf(schema);
  const inherited = bases.flatMap(([base, ...names]) =>
    fieldsOf({ ...schemas[base]!, ...(isPartial && { required: [] }) }, names),
  );
  if (!inherited.every((field) => own.some((other) => isSame(field, other)) || bases.every(isWhole)))
    throw new Error(`${name} does not have the fields of its bases`);
  const fields = own.filter((field) => !inherited.some((other) => isSame(field, other)));
  const extended = bases.map((base) => baseType(base, schemas)).join(', ');
  if (isPartial) return `${comment}export type ${name} = Partial<${extended}>;`;
  if (fields.length === 0) return `${comment}export type ${name} = ${extended};`;
  return `${comment}export interface ${name} ${extended && `extends ${extended} `}{\n${fields.join('\n')}\n}`;
}

const isWhole = ({ length }: Base) => length === 1;

/** A field that only reads differently is the base's. */
const isSame = (field: string, other: string) => field.split('\n').at(-1) === other.split('\n').at(-1);

/** Returns the type that has the fields of a base. */
function baseType(base: Base, schemas: Record<string, Schema>): string {
  const [name, ...fields] = base;
  if (base === OF_TICKET) return 'TicketOfEvent';
  if (fields.length === 0) return name;
  const others = Object.keys(schemas[name]!.properties!).filter((field) => !fields.includes(field));
  const [own] = BASES[name] ?? [];
  if (own?.length === 1 && others.join() === Object.keys(schemas[own[0]]!.properties!).join())
    return `Omit<${name}, keyof ${own[0]}>`;
  const isOmit = others.length < fields.length;
  const names = (isOmit ? others : fields).map((field) => `'${field}'`).join(' | ');
  return `${isOmit ? 'Omit' : 'Pick'}<${name}, ${names}>`;
}

/** Returns the fields of a schema, or those with these names. */
function fieldsOf({ properties = {}, required = [] }: Schema, names: readonly string[] = []): string[] {
  return Object.entries(properties)
    .filter(([name]) => names.length === 0 || names.includes(name))
    .map(([name, schema]) => {
      return `${commentOf(schema)}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`;
    });
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
