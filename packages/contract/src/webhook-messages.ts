import { Type } from '@sinclair/typebox';
import { RegistrationStatus } from './answers.ts';
import { Timestamp, UUID_PATTERN } from './formats.ts';

// What a webhook sends, for the OpenAPI document. Fields may be added, so a receiver must ignore fields that it does not know.

const oneOf = <Name extends string>(...names: Name[]) =>
  Type.Unsafe<Name>({ type: 'string', enum: names, examples: [names[0]], description: 'The kind.' });

const EventRef = Type.String({
  pattern: UUID_PATTERN,
  description: 'The event: x-event-ref.',
  examples: ['01234567-89ab-4cde-8f01-23456789abcd'],
});
const Cursor = (description: string, example: string) => Type.String({ description, examples: [example] });

const RegistrationEntry = Type.Object(
  {
    type: oneOf('registration.confirmed', 'registration.cancelled', 'registration.failed'),
    ...RegistrationStatus.properties,
  },
  { title: 'WebhookRegistrationEntry', description: 'What happened to a registration, as it was then.' },
);

const TicketEntry = Type.Object(
  {
    type: oneOf('ticket.sold_out', 'ticket.reopened'),
    organizedEventID: Type.Integer({ description: 'The event.', examples: [1042] }),
    organizedEventTicketID: Type.Integer({ description: 'The ticket.', examples: [1] }),
    dateChanged: Timestamp('When it happened.'),
  },
  { title: 'WebhookTicketEntry', description: 'What happened to a ticket.' },
);

/** The body of a message with changes. */
const EventChanges = Type.Object(
  {
    type: oneOf('event.changes'),
    timestamp: Timestamp('When the last entry happened.'),
    data: Type.Object({
      eventRef: EventRef,
      previousCursor: Cursor(
        'The cursor of the message before. If it differs from yours, a message is missing.',
        '0',
      ),
      cursor: Cursor('List Registrations continues here, with `after`.', '2'),
      entries: Type.Array(Type.Union([RegistrationEntry, TicketEntry]), {
        description: 'The entries, in the order in which they happened.',
      }),
    }),
  },
  { title: 'WebhookChanges' },
);

/** The body of a message that only tests a receiver. */
const TestMessage = Type.Object(
  {
    type: oneOf('webhook.test'),
    timestamp: Timestamp('When the test was asked for.'),
    data: Type.Object({ eventRef: EventRef }),
  },
  { title: 'WebhookTestMessage' },
);

const HEADERS = {
  'webhook-id': 'Id of the message. A repeat has the same id: process each id once.',
  'webhook-timestamp': 'Seconds since 1970. Reject a message that is more than five minutes off.',
  'webhook-signature':
    'Signatures of the kinds v1 (HMAC) and v1a (Ed25519), separated by spaces (Standard Webhooks).',
};

const message = (operationId: string, summary: string, schema: object) => ({
  post: {
    operationId,
    summary,
    description:
      'Answer with any 2xx: the message is delivered. 410 disables the webhook. After anything else the same message is sent again later.',
    tags: ['Webhooks'],
    // Signed by us, so no key of the partner's.
    security: [],
    parameters: Object.entries(HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: { required: true, content: { 'application/json': { schema } } },
  },
});

/** The messages that a webhook sends, as the `webhooks` section of an OpenAPI document. */
export const WEBHOOK_MESSAGES = {
  'event.changes': message('receiveChanges', 'Changes of registrations and tickets', EventChanges),
  'webhook.test': message('receiveTest', 'A test of the receiver', TestMessage),
};
