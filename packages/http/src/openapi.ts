import swagger from '@fastify/swagger';
import { CONTRACT_VERSION, RESPONSE_CODES, WEBHOOK_MESSAGES } from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';
import { describeOperation } from './describe-operation.ts';
import { nameSchemas } from './name-schemas.ts';
import { documentWithDemo, type ReferenceDemo } from './reference-demo.ts';

/** The tags that group the operations. Each operation has one of them. */
const TAGS = [
  { name: 'Tickets', description: 'Tickets, their sales windows, and the state of the launch.' },
  {
    name: 'Registrations',
    description: 'Register attendees, read the state of registrations, change them, and get passes.',
  },
  {
    name: 'Webhooks',
    description: 'Notify your server when registrations and tickets change, so that you do not have to poll.',
  },
];

export interface Description {
  /** Where partners reach the operator. */
  contactUrl?: string | undefined;
  demo?: ReferenceDemo | undefined;
}

/** Describes the routes that are registered after it at /api/v1/openapi.json. */
export async function openApi(app: FastifyInstance, { contactUrl, demo }: Description): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Floodgate',
        version: CONTRACT_VERSION,
        summary: 'Event registration for partner platforms.',
        description: describeService(),
        contact: { name: 'The operator of this service', ...(contactUrl && { url: contactUrl }) },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: TAGS,
      webhooks: WEBHOOK_MESSAGES as Record<string, object>,
      components: {
        securitySchemes: {
          secretKey: {
            type: 'apiKey',
            in: 'header',
            name: 'x-secret-key',
            description:
              'The secret key that the operator gave you. It says who you are. Keep it on your servers.',
          },
        },
      },
      security: [{ secretKey: [] }],
    },
    transform: describeOperation,
  });
  let text: string | undefined;
  app.get('/api/v1/openapi.json', { schema: { hide: true } }, (_request, reply) => {
    void reply.type('application/json; charset=utf-8');
    reply.send((text ??= documentWithDemo(nameSchemas(app.swagger()), demo)));
  });
}

const INTRODUCTION = `Registers attendees for events and lists the tickets of an event.

Every answer has the fields \`responseCode\`, \`responseMessage\` and \`responseData\`, and carries an \`x-request-id\`.
If a retry makes sense, \`Retry-After\` can say when.

If a limit of requests per second was agreed, \`RateLimit-Policy\` states it and \`RateLimit\` says what remains. Requests above
the limit are answered 50. Without a limit neither header is sent.

| code | HTTP | meaning | retry |
|---|---|---|---|
`;

/** Returns the introduction of the reference: what holds for every operation, and the table of response codes. */
function describeService(): string {
  const rows = Object.entries(RESPONSE_CODES).map(
    ([code, { httpStatuses, meaning, retryAfterSeconds }]) =>
      `| ${code} | ${httpStatuses.join(', ')} | ${meaning} | ${retryAfterSeconds === undefined ? 'no' : 'yes'} |`,
  );
  // By code: JavaScript puts "10" before "00", since keys that look like array indexes come first.
  return INTRODUCTION + rows.toSorted().join('\n');
}
