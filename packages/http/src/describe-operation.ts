import type { SwaggerTransform } from '@fastify/swagger';
import type { TSchema } from '@sinclair/typebox';
import {
  CacheControlHeader,
  CallerHeaders,
  COMMON_FAILURES,
  ErrorDetailsHeader,
  failure,
  FailureEnvelope,
  fieldRule,
  InvalidFieldsHeader,
  RateLimitHeaders,
  RequestIdHeader,
  RESPONSE_CODES,
  RetryAfterHeader,
  type FailureCode,
  type ResponseCode,
} from '@floodgate/contract';
import type { FastifySchema } from 'fastify';

declare module 'fastify' {
  // For the reference only: handlers set them by hand.
  interface FastifySchema {
    /** Every failure that the operation may answer. */
    failures?: readonly FailureCode[];
    /** Failures of one item of a call that itself is answered "00". */
    itemFailures?: readonly FailureCode[];
    /** Headers of the operation's own answers, in addition to those that every answer has. */
    answerHeaders?: object;
    /** Media types of pictures that the operation answers instead of the envelope, where they are asked for. */
    pictures?: readonly string[];
  }
}

/** What is described of a route that has `failures`. */
interface Operation {
  /** What its schemas are called by. */
  name: string;
  schema: FastifySchema;
  /** How much of a body is read. */
  bodyLimit: number;
  isGet: boolean;
}

/** Fastify's own, for routes that set none. */
const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** Describes a route by its own schema, with an example for its request and for every answer. */
export const describeOperation: SwaggerTransform = ({ schema, url, route }) => {
  if (!schema?.failures) return { schema: schema ?? {}, url };
  const {
    headers: own,
    body,
    operationId = '',
  } = schema as Record<'headers' | 'body', TSchema | undefined> & {
    operationId?: string;
  };
  const operation: Operation = {
    name: operationId.charAt(0).toUpperCase() + operationId.slice(1),
    schema,
    bodyLimit: route.bodyLimit ?? DEFAULT_BODY_LIMIT,
    isGet: [route.method].flat().includes('GET'),
  };
  const properties = {
    ...CallerHeaders.properties,
    ...own?.['properties'],
    ...(schema.failures.includes('11') && ErrorDetailsHeader),
  };
  const headers = { ...CallerHeaders, properties };
  const example = body && { body: { ...body, examples: [exampleOf(body)] } };
  const description = `${String(schema['description'])}${body ? ` The body may have at most ${operation.bodyLimit / 1024} KiB.` : ''}`;
  return {
    schema: { ...schema, description, headers, ...example, response: describeAnswers(operation) },
    url,
  };
};

// A body that is ignored is of no wrong type. It may be too large, but the body of a GET is not even received.
// Answered before anybody knows which partner's limit would count.
const UNCOUNTED = [401, 431];
// Answered before anybody knows whose request it is.
const UNREAD = [431];

/** Returns what an operation may answer, by HTTP status: which codes, an example of each, and the headers. */
function describeAnswers(operation: Operation): object {
  const { schema } = operation;
  const codes: ResponseCode[] = ['00', ...(schema.failures ?? [])];
  const described: Record<number, object> = {};
  for (const status of codes.flatMap((code) => RESPONSE_CODES[code].httpStatuses)) {
    if (!schema.body && (status === 415 || (status === 413 && operation.isGet))) continue;
    const alike = codes.filter((code) => RESPONSE_CODES[code].httpStatuses.includes(status));
    described[status] = describeStatus(status, alike, operation);
  }
  return described;
}

function describeStatus(status: number, codes: ResponseCode[], operation: Operation): object {
  const { name, schema } = operation;
  const success = (schema.response as { 200: TSchema })[200];
  const examples = codes.map((code) => {
    const value = code === '00' ? exampleOf(success) : failure(code, exampleMessage(code, status, operation));
    return [`code${code}`, { summary: `${code} ${RESPONSE_CODES[code].message}`, value }];
  });
  return {
    description: codes.map((code) => `${code}: ${RESPONSE_CODES[code].meaning}`).join('\n\n'),
    headers: headersOf(status, codes, schema),
    content: {
      'application/json': {
        schema:
          status === 200
            ? { ...success, title: `${name}Answer` }
            : { ...failureOf(codes), title: `${name}Failure${status}` },
        examples: Object.fromEntries(examples) as object,
      },
      ...(status === 200 && Object.fromEntries((schema.pictures ?? []).map((type) => [type, {}]))),
    },
  };
}

/** The envelope of failures with these codes and no other. */
function failureOf(codes: ResponseCode[]): object {
  const responseCode = { ...FailureEnvelope.properties.responseCode, enum: codes };
  return { ...FailureEnvelope, properties: { ...FailureEnvelope.properties, responseCode } };
}

function headersOf(
  status: number,
  codes: ResponseCode[],
  { answerHeaders, itemFailures = [] }: FastifySchema,
): object {
  const namesFields = [...codes, ...(status === 200 ? itemFailures : [])].includes('11');
  const isOwn = codes.some((code) => !(COMMON_FAILURES as ResponseCode[]).includes(code));
  const isTimed = codes.some((code) => RESPONSE_CODES[code].retryAfterSeconds !== undefined);
  return {
    ...RequestIdHeader,
    ...(!UNREAD.includes(status) && CacheControlHeader),
    ...(!UNCOUNTED.includes(status) && RateLimitHeaders),
    ...(isTimed && RetryAfterHeader),
    ...(namesFields && InvalidFieldsHeader),
    ...(isOwn && answerHeaders),
  };
}

/** Returns a value that the schema allows, made of its parts' first examples. */
function exampleOf(schema: TSchema): unknown {
  if (schema['examples']) return schema['examples'][0];
  if ('const' in schema) return schema['const'];
  if (schema['anyOf']) return exampleOf(schema['anyOf'][0]);
  if (schema['type'] === 'array') return [exampleOf(schema['items'])];
  if (schema['type'] === 'null') return null;
  const parts = Object.entries<TSchema>(schema['properties'] ?? {});
  return Object.fromEntries(parts.map(([name, part]) => [name, exampleOf(part)]));
}

/** Returns the message of an example, where what is really answered says more than the catalogue. */
function exampleMessage(code: ResponseCode, status: number, operation: Operation): string {
  if (code === '10') return malformedMessage(status, operation);
  if (code === '50') return 'Too many requests: at most 100 a second';
  const read = (operation.schema.body ?? operation.schema.querystring) as TSchema | undefined;
  if (code !== '11' || !read) return RESPONSE_CODES[code].message;
  // As if the first two were wrong: every field that is wrong is named.
  const wrong = Object.keys(read['properties'] as object).slice(0, 2);
  return wrong.map((name) => fieldRule(read, `/${name}`)).join('; ');
}

function malformedMessage(status: number, { schema, bodyLimit }: Operation): string {
  if (status === 413) return `The body is larger than ${bodyLimit / 1024} KiB`;
  if (status === 415) return 'The body must be sent as application/json';
  if (status === 431) return 'The headers are too large';
  return schema.body ? 'The body is not well-formed JSON' : 'The request is not well-formed HTTP';
}
