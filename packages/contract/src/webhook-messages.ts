import { Type, type Static, type TProperties } from '@sinclair/typebox';
import { PassReference, RegistrationEntry, ticketOfEvent } from './answers.ts';
import { nullableTimestamp, oneOf, open, Text, Timestamp, Uuid } from './fields.ts';
import { EXAMPLE_EVENT_REF } from './headers.ts';
import { WaitingEntry } from './holds.ts';

// The messages of a webhook, for the OpenAPI document. Fields can be added, so receivers must ignore unknown fields.

const MessageType = <const Name extends string>(...names: [Name, ...Name[]]) =>
  oneOf(names, 'Type of the message or entry.', names[0]);

const ChangedRegistration = open(
  'WebhookRegistrationEntry',
  {
    type: MessageType('registration.confirmed', 'registration.cancelled', 'registration.failed'),
    ...RegistrationEntry.properties,
  },
  'The registration after the change.',
);

const TicketEntry = open(
  'WebhookTicketEntry',
  {
    type: MessageType('ticket.sold_out', 'ticket.reopened'),
    ...ticketOfEvent,
    dateChanged: Timestamp('Time of the change.'),
  },
  'A change to a ticket.',
);

const AdmissionEntry = open(
  'WebhookAdmissionEntry',
  {
    type: MessageType('registration.admitted', 'registration.admitted_again'),
    passReference: PassReference,
    ...ticketOfEvent,
    gate: Text('Name of the gate.', 'Main entrance'),
    dateAdmitted: Timestamp('Time of the admission.'),
    dateChanged: Timestamp('Time at which the service learned of the admission.'),
  },
  'A person was let in. admitted_again: although the pass was admitted before. List Admissions has all ' +
    'admissions of the pass.',
);

const { entry, seats, partnerReference } = WaitingEntry.properties;
const OF_ENTRY = 'Reference of the entry. It is also the reference of the hold that is its offer.';
const ChangedWaitingEntry = open(
  'WebhookWaitingEntry',
  {
    type: MessageType('waiting.joined', 'waiting.offered', 'waiting.expired', 'waiting.confirmed'),
    entry: { ...entry, description: OF_ENTRY },
    ...ticketOfEvent,
    seats,
    partnerReference,
    dateExpires: nullableTimestamp('Time at which the offer expires or expired. null: it has had no offer.'),
    dateChanged: Timestamp('Time of the change.'),
  },
  'A change to an entry of a waiting list. Leaving has no entry.',
);

const Entry = Type.Union([ChangedRegistration, AdmissionEntry, TicketEntry, ChangedWaitingEntry]);
export type WebhookEventType = Static<typeof Entry>['type'];
export const WEBHOOK_EVENT_TYPES = Entry.anyOf.flatMap(
  ({ properties }) => properties.type['enum'] as WebhookEventType[],
);

const bodyOf = (title: string, type: string, happened: string, data: TProperties) =>
  open(title, {
    type: MessageType(type),
    timestamp: Timestamp(happened),
    data: Type.Object({ eventRef: Uuid('Reference of the event.', EXAMPLE_EVENT_REF), ...data }),
  });

const HEADERS = {
  'webhook-id': 'Id of the message. A retry has the same id: process each id once.',
  'webhook-timestamp':
    'Unix time in seconds. Reject a message whose timestamp differs from your clock by more than five minutes.',
  'webhook-signature':
    'Signatures of the kinds v1 (HMAC) and v1a (Ed25519), separated by spaces (Standard Webhooks).',
};

const message = (operationId: string, summary: string, schema: object) => ({
  post: {
    operationId,
    summary,
    description:
      'Answer with any 2xx status after you have stored the message. Status 410 disables the webhook. ' +
      'After any other answer the service retries the message.',
    tags: ['Webhooks'],
    // The service signs the message. The partner's key is not sent.
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
  'event.changes': message(
    'receiveChanges',
    'Changes of registrations, admissions, tickets and waiting lists',
    bodyOf('WebhookChanges', 'event.changes', 'Time of the last entry.', {
      previousCursor: Text(
        'Cursor of the previous message. If it differs from the last cursor that you received, a message is missing.',
        '0',
      ),
      cursor: Text('Cursor of the last entry. List Registrations accepts it as `after`.', '2'),
      entries: Type.Array(Entry, { description: 'The entries, oldest first.' }),
    }),
  ),
  'webhook.test': message(
    'receiveTest',
    'A test of the receiver',
    bodyOf('WebhookTestMessage', 'webhook.test', 'Time of the test request.', {}),
  ),
};
