import swagger, { type SwaggerTransform } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import {
  CallerHeaders,
  RateLimitHeaders,
  RegisterHeaders,
  RESPONSE_CODES,
  type ResponseCodeEntry,
} from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';

/** Describes the routes that are registered after it: /api/v1/openapi.json and a page to read it at /docs. */
export async function documentation(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Floodgate', version: '1', description: describeService() },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: { secretKey: { type: 'apiKey', in: 'header', name: 'x-secret-key' } },
      },
      security: [{ secretKey: [] }],
    },
    transform: describeHeaders,
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Floodgate API' },
    // Without the bar that offers to open other documents.
    uiConfig: { layout: 'BaseLayout', defaultModelsExpandDepth: 0 },
  });
  let text: string | undefined;
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, (_request, reply) => {
    void reply.type('application/json; charset=utf-8');
    reply.send((text ??= JSON.stringify(app.swagger())));
  });
}

// The headers are checked and set by hand; their schemas are only shown.
const describeHeaders: SwaggerTransform = ({ schema, url }) => {
  if (!url.startsWith('/api/v1/events/')) return { schema, url };
  const headers = url.endsWith('/register') ? RegisterHeaders : CallerHeaders;
  return { schema: { ...schema, headers, response: withRateLimitHeaders(schema?.response) }, url };
};

function withRateLimitHeaders(responses: unknown): Record<string, object> {
  const described = Object.entries(responses as Record<string, object>).map(([status, answer]) => [
    status,
    { ...answer, headers: RateLimitHeaders },
  ]);
  return Object.fromEntries(described) as Record<string, object>;
}

function describeService(): string {
  const rows = Object.entries<ResponseCodeEntry>(RESPONSE_CODES)
    .toSorted(byCode)
    .map(
      ([code, { httpStatuses, meaning, retryable }]) =>
        `| ${code} | ${httpStatuses.join(', ')} | ${meaning} | ${retryable ? 'yes' : 'no'} |`,
    );
  return [
    'Registers attendees for events and lists the tickets of an event.',
    '',
    'Every answer has the fields `responseCode`, `responseMessage` and `responseData`, and carries an `x-request-id`.',
    'Where a retry makes sense, `Retry-After` may say when.',
    '',
    'Where a limit of requests per second was agreed, `RateLimit-Policy` states it and `RateLimit` what remains of it;',
    'requests above it are answered 50. Without a limit neither is sent.',
    '',
    '| responseCode | HTTP | meaning | retry |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

// JavaScript puts "10" before "00": keys that look like array indexes come first.
const byCode = ([a]: [string, unknown], [b]: [string, unknown]) => a.localeCompare(b);
