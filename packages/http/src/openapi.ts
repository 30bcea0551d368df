import { readFile } from 'node:fs/promises';
import swagger from '@fastify/swagger';
import {
  CONTRACT_VERSION,
  EMAIL_PATTERN,
  escapeInvisible,
  EXAMPLE_EVENT_REF,
  LONG_LOCAL_PART,
  NOT_PORTABLE,
  RESPONSE_CODES,
  WEBHOOK_MESSAGES,
} from '@floodgate/contract';
import type { FastifyInstance } from 'fastify';
import { describeOperation } from './describe-operation.ts';

/** The tags that group the operations. Each operation has one of them. */
const TAGS = Object.entries({
  Tickets: 'Tickets, their sales windows, and the state of the launch.',
  Registrations: 'Register attendees, read the state of registrations, change them, and get passes.',
  Holds: 'Sell from a basket: hold seats, and name the attendees when they are known.',
  'Waiting list': 'Wait for seats of a ticket that is sold out, and accept or decline the offer.',
  Webhooks:
    'Receive messages when registrations, tickets and waiting lists change, so that you do not have to poll.',
}).map(([name, description]) => ({ name, description }));

/** The test event that the page at /docs calls by default. `npm start` writes it. */
export interface ReferenceDemo {
  secretKey: string;
  eventRef: string;
  tickets: readonly { id: number }[];
}

/**
 * Reads a demo.json. Undefined: its key is not a test key. Everybody who can open the page can read the key.
 */
export async function readReferenceDemo(file: string) {
  const demo = JSON.parse(await readFile(file, 'utf8')) as ReferenceDemo;
  return demo.secretKey.startsWith('fg_test_') ? demo : undefined;
}

/** Serves the OpenAPI document at /api/v1/openapi.json. It describes all routes that are registered later. */
export async function openApi(app: FastifyInstance, contactUrl?: string, demo?: ReferenceDemo) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Floodgate',
        version: CONTRACT_VERSION,
        summary: 'Event registration for partner platforms.',
        // Sorted, because JavaScript puts "10" before "00": keys that look like array indexes come first.
        description: INTRODUCTION + CODES.toSorted().join('\n'),
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
              'The secret key that the operator gave you. It identifies you. Keep it on your servers.',
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

/**
 * The introduction of the reference: the rules of every operation, and the head of the table of response
 * codes.
 */
const INTRODUCTION = `Registers attendees for events and lists the tickets of an event.

Every answer has the fields \`responseCode\`, \`responseMessage\` and \`responseData\`, and the header \`x-request-id\`.
If a retry can help, the header \`Retry-After\` may state how long to wait.

If you have a rate limit, the header \`RateLimit-Policy\` states it, and \`RateLimit\` states the remaining \
requests. Requests above
the limit get code 50. Without a limit, neither header is sent.

| code | HTTP | meaning | retry |
|---|---|---|---|
`;

const CODES = Object.entries(RESPONSE_CODES).map(
  ([code, { httpStatuses, meaning, retryAfterSeconds }]) =>
    `| ${code} | ${httpStatuses.join(', ')} | ${meaning} | ${retryAfterSeconds === undefined ? 'no' : 'yes'} |`,
);

/** A one-word title is the name of its schema. Other titles are messages about an invalid value. */
const NAME = /^[A-Z][A-Za-z0-9]*$/;

/** The format `email` of most tools accepts other addresses. */
const EMAIL = { pattern: EMAIL_PATTERN, not: { pattern: LONG_LOCAL_PART } };

/** Returns the schema of an e-mail address with its pattern, and any other value as it is. */
const withPattern = (node: unknown) =>
  isSchema(node) && node.format === 'email' ? { ...node, ...EMAIL } : node;

/** Distinguishes a schema from an example, which can also have a title. */
const isSchema = (node: unknown): node is { title?: unknown; format?: unknown } =>
  typeof node === 'object' && node !== null && ['type', 'anyOf', 'const'].some((key) => key in node);

/**
 * Returns an OpenAPI document that has every named schema once, under components/schemas, and references to
 * it elsewhere. Patterns are portable to other languages. Throws if two different schemas have the same name.
 */
function nameSchemas(document: object) {
  const named: Record<string, object> = {};
  // The reviver visits inner schemas first.
  const described = JSON.parse(JSON.stringify(document), function name(this: object, key, node: unknown) {
    if (key === 'pattern' && typeof node === 'string') return node.replaceAll(NOT_PORTABLE, '');
    if (!isSchema(node) || typeof node.title !== 'string') return withPattern(node);
    const { title, ...nameless } = node;
    // @fastify/swagger moves description and example of a parameter out of its schema, so the rest differs
    // from the named schema.
    if (!NAME.test(title) || (key === 'schema' && 'in' in this)) return nameless;
    // Some generators name a type by its title, others by its key in components/schemas.
    const schema = { title, ...nameless };
    if (JSON.stringify((named[title] ??= schema)) !== JSON.stringify(schema))
      throw new Error(`two different schemas are called ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  }) as { components: object };
  const schemas = Object.fromEntries(Object.entries(named).toSorted(([a], [b]) => a.localeCompare(b)));
  return { ...described, components: { ...described.components, schemas } };
}

/** Returns the OpenAPI document as JSON, with the demo's event and ticket in its examples. */
function documentWithDemo(document: object, demo: ReferenceDemo | undefined) {
  const text = JSON.stringify(document, (key, value: unknown) => {
    if (demo && value === EXAMPLE_EVENT_REF) return demo.eventRef;
    if (demo && key === 'organizedEventTicketID' && typeof value === 'number') return demo.tickets[0]!.id;
    return value;
  });
  return escapeInvisible(text);
}
