import type { SwaggerTransform } from '@fastify/swagger';
import type { TSchema } from '@sinclair/typebox';
import {
  ANSWER_HEADERS,
  BODY_LIMIT_BYTES,
  CallerHeaders,
  COMMON_FAILURES,
  ErrorDetailsHeader,
  failure,
  FailureEnvelope,
  fieldRule,
  RESPONSE_CODES,
  type AnswerHeader,
  type FailureCode,
  type ResponseCode,
} from '@floodgate/contract';
import type { FastifySchema } from 'fastify';

declare module 'fastify' {
  // For the OpenAPI document only. Handlers send the failures and the header themselves.
  interface FastifySchema {
    /** Every failure code of the operation. */
    failures?: readonly FailureCode[];
    /** Failure codes of one item in a call that is itself answered "00". */
    itemFailures?: readonly FailureCode[];
    /** Failure codes other than 11 whose answers have X-Invalid-Fields. */
    namedFailures?: readonly FailureCode[];
    /** The header of the operation's own answers, in addition to the headers of every answer. */
    answerHeader?: AnswerHeader;
    /**
     * Media types of pictures that the operation returns instead of the envelope, if the request accepts one.
     */
    pictures?: readonly string[];
  }
}

/** Describes a route from its schema, with examples of its request and of every answer. */
export const describeOperation: SwaggerTransform = ({ schema, url, route }) => {
  if (!schema?.failures) return { schema: schema ?? {}, url };
  const { headers: own, body } = schema as Record<string, TSchema | undefined>;
  const codes: ResponseCode[] = ['00', ...schema.failures];
  const limit = `${(route.bodyLimit ?? BODY_LIMIT_BYTES) / 1024} KiB`;
  const isGet = [route.method].flat().includes('GET');
  const statuses = codes
    .flatMap((code) => RESPONSE_CODES[code].httpStatuses)
    // An ignored body has no wrong type. It can be too large, except in a GET, whose body is not received.
    .filter((status) => body || !(status === 415 || (status === 413 && isGet)));
  const properties = {
    ...CallerHeaders.properties,
    ...own?.['properties'],
    ...(schema.failures.includes('11') && ErrorDetailsHeader),
  };
  const described = {
    description: `${schema.description}${body ? ` The body may have at most ${limit}.` : ''}`,
    headers: { ...CallerHeaders, properties },
    ...(body && { body: { ...body, examples: [exampleOf(body)] } }),
    response: Object.fromEntries(
      statuses.map((status) => {
        const alike = codes.filter((code) => RESPONSE_CODES[code].httpStatuses.includes(status));
        return [status, describeStatus(status, alike, schema, limit)];
      }),
    ),
  };
  return { schema: { ...schema, ...described }, url };
};

/** Returns the answer of an operation with an HTTP status: its codes, an example of each, and the headers. */
function describeStatus(status: number, codes: ResponseCode[], schema: FastifySchema, limit: string) {
  const { operationId = '', response, pictures = [] } = schema;
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1);
  const success = (response as { 200: TSchema })[200];
  const responseCode = { ...FailureEnvelope.properties.responseCode, enum: codes };
  const failed = { ...FailureEnvelope, properties: { ...FailureEnvelope.properties, responseCode } };
  const examples = codes.map((code) => {
    const message = exampleMessage(code, status, schema, limit);
    const value = code === '00' ? exampleOf(success) : failure(code, message);
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
            : { ...failed, title: `${name}Failure${status}` },
        examples: Object.fromEntries(examples) as object,
      },
      ...(status === 200 && Object.fromEntries(pictures.map((type) => [type, {}]))),
    },
  };
}

// Sent before the partner, and so its limit, is known.
const UNCOUNTED = [401, 431];
// Sent if Node could not read the head, so before any hook.
const UNREAD = 431;

function headersOf(status: number, codes: ResponseCode[], schema: FastifySchema) {
  const { answerHeader, itemFailures = [], namedFailures = [] } = schema;
  const named: readonly ResponseCode[] = ['11', ...namedFailures];
  const namesFields = [...codes, ...(status === 200 ? itemFailures : [])].some((code) =>
    named.includes(code),
  );
  const isOwn = codes.some((code) => !(COMMON_FAILURES as ResponseCode[]).includes(code));
  const isCounted = !UNCOUNTED.includes(status);
  const isPresent: Record<AnswerHeader, boolean> = {
    'x-request-id': true,
    'Cache-Control': status !== UNREAD,
    'RateLimit-Policy': isCounted,
    RateLimit: isCounted,
    'Retry-After': codes.some((code) => Boolean(RESPONSE_CODES[code].retryAfterSeconds)),
    'X-Invalid-Fields': namesFields,
    'Idempotent-Replayed': isOwn && answerHeader === 'Idempotent-Replayed',
    Vary: isOwn && answerHeader === 'Vary',
  };
  const headers = Object.entries(ANSWER_HEADERS);
  return Object.fromEntries(headers.filter(([name]) => isPresent[name as AnswerHeader]));
}

/** Returns an example of a schema, made of the first examples of its parts. */
function exampleOf(schema: TSchema): unknown {
  if (schema['examples']) return schema['examples'][0];
  if ('const' in schema) return schema['const'];
  if (schema['anyOf']) return exampleOf(schema['anyOf'][0]);
  if (schema['type'] === 'array') return [exampleOf(schema['items'])];
  if (schema['type'] === 'null') return null;
  const parts = Object.entries<TSchema>(schema['properties'] ?? {});
  return Object.fromEntries(parts.map(([name, part]) => [name, exampleOf(part)]));
}

/** Returns the message of an example. The real messages of some codes say more than the catalogue. */
function exampleMessage(code: ResponseCode, status: number, schema: FastifySchema, limit: string) {
  const read = (schema.body ?? schema.querystring) as TSchema | undefined;
  // The example names the first two fields as invalid.
  const wrong = Object.keys((read?.['properties'] as object | undefined) ?? {}).slice(0, 2);
  const malformed: Record<number, string> = {
    400: schema.body ? 'The body is not well-formed JSON' : 'The request is not well-formed HTTP',
    413: `The body is larger than ${limit}`,
    415: 'The body must be sent as application/json',
    431: 'The headers are too large',
  };
  const messages: { [Code in ResponseCode]?: string | undefined } = {
    '10': malformed[status],
    '11': wrong.map((name) => fieldRule(read, `/${name}`)).join('; '),
    '50': 'Too many requests: at most 100 a second',
  };
  return messages[code] || RESPONSE_CODES[code].message;
}
