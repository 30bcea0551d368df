import swagger, { type SwaggerTransform } from '@fastify/swagger';
import type { TSchema } from '@sinclair/typebox';
import {
  BODY_LIMIT_BYTES,
  CallerHeaders,
  COMMON_FAILURES,
  failure,
  FailureEnvelope,
  fieldRule,
  RateLimitHeaders,
  RequestIdHeader,
  RESPONSE_CODES,
  RetryAfterHeader,
  type FailureCode,
  type ResponseCode,
} from '@floodgate/contract';
import type { FastifyInstance, FastifySchema } from 'fastify';

declare module 'fastify' {
  // For the reference only: handlers set them by hand.
  interface FastifySchema {
    /** Every failure that the operation may answer. */
    failures?: readonly FailureCode[];
    /** Headers of the operation's own answers, beside those that every answer has. */
    answerHeaders?: object;
  }
}

/** Describes the routes that are registered after it at /api/v1/openapi.json. */
export async function openApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Floodgate', version: '1', description: describeService() },
      servers: [{ url: '/' }],
      components: { securitySchemes: { secretKey: { type: 'apiKey', in: 'header', name: 'x-secret-key' } } },
      security: [{ secretKey: [] }],
    },
    transform: describeOperation,
  });
  let text: string | undefined;
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, (_request, reply) => {
    void reply.type('application/json; charset=utf-8');
    reply.send((text ??= JSON.stringify(app.swagger())));
  });
}

/** Describes a route by its own schema, with an example for its request and for every answer. */
const describeOperation: SwaggerTransform = ({ schema, url }) => {
  if (!schema?.failures) return { schema: schema ?? {}, url };
  const { headers: own, body } = schema as { headers?: TSchema; body?: TSchema };
  const headers = { ...CallerHeaders, properties: { ...CallerHeaders.properties, ...own?.['properties'] } };
  const example = body && { body: { ...body, examples: [exampleOf(body)] } };
  return { schema: { ...schema, headers, ...example, response: describeAnswers(schema) }, url };
};

const INTRODUCTION = `Registers attendees for events and lists the tickets of an event.

Every answer has the fields \`responseCode\`, \`responseMessage\` and \`responseData\`, and carries an \`x-request-id\`.
Where a retry makes sense, \`Retry-After\` may say when.

Where a limit of requests per second was agreed, \`RateLimit-Policy\` states it and \`RateLimit\` what remains of it;
requests above it are answered 50. Without a limit neither is sent.

| code | HTTP | meaning | retry |
|---|---|---|---|
`;

/** Returns the introduction of the reference: what holds for every operation, and the table of response codes. */
function describeService(): string {
  const rows = Object.entries(RESPONSE_CODES).map(
    ([code, { httpStatuses, meaning, retryable }]) =>
      `| ${code} | ${httpStatuses.join(', ')} | ${meaning} | ${retryable ? 'yes' : 'no'} |`,
  );
  // By code: JavaScript puts "10" before "00", since keys that look like array indexes come first.
  return INTRODUCTION + rows.toSorted().join('\n');
}

// A body that is not read is neither too large nor of the wrong type.
const ABOUT_BODIES = [413, 415];
// Answered before anybody knows which partner's limit would count.
const UNCOUNTED = [401, 431];

/** Returns what an operation may answer, by HTTP status: which codes, an example of each, and the headers. */
function describeAnswers(schema: FastifySchema): object {
  const codes: ResponseCode[] = ['00', ...(schema.failures ?? [])];
  const described: Record<number, object> = {};
  for (const status of codes.flatMap((code) => RESPONSE_CODES[code].httpStatuses)) {
    if (!schema.body && ABOUT_BODIES.includes(status)) continue;
    const alike = codes.filter((code) => RESPONSE_CODES[code].httpStatuses.includes(status));
    described[status] = describeStatus(status, alike, schema);
  }
  return described;
}

function describeStatus(status: number, codes: ResponseCode[], schema: FastifySchema): object {
  const success = (schema.response as { 200: TSchema })[200];
  const properties = { ...FailureEnvelope.properties, responseCode: { type: 'string', enum: codes } };
  const examples = codes.map((code) => {
    const message = exampleMessage(code, status, schema.body as TSchema | undefined);
    const value = code === '00' ? exampleOf(success) : failure(code, message);
    return [`code${code}`, { summary: `${code} ${RESPONSE_CODES[code].message}`, value }];
  });
  return {
    description: codes.map((code) => `${code}: ${RESPONSE_CODES[code].meaning}`).join('\n\n'),
    headers: headersOf(status, codes, schema),
    content: {
      'application/json': {
        schema: status === 200 ? success : { ...FailureEnvelope, properties },
        examples: Object.fromEntries(examples) as object,
      },
    },
  };
}

function headersOf(status: number, codes: ResponseCode[], { answerHeaders }: FastifySchema): object {
  const isOwn = codes.some((code) => !(COMMON_FAILURES as ResponseCode[]).includes(code));
  const isTimed = codes.some((code) => RESPONSE_CODES[code].retryAfterSeconds !== undefined);
  return {
    ...RequestIdHeader,
    ...(!UNCOUNTED.includes(status) && RateLimitHeaders),
    ...(isTimed && RetryAfterHeader),
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
function exampleMessage(code: ResponseCode, status: number, body?: TSchema): string {
  const unreadable = body ? 'The body is not well-formed JSON' : 'The request is not well-formed HTTP';
  if (code === '10') return MALFORMED[status] ?? unreadable;
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
