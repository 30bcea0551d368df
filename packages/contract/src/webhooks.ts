import { Type, type Static } from '@sinclair/typebox';
import { Limit } from './answers.ts';
import { closed, Flag, nullable, nullableTimestamp, oneOf, open, Text, Timestamp, Whole } from './fields.ts';
import { UUID_PATTERN } from './formats.ts';
import { WEBHOOK_EVENT_TYPES } from './webhook-messages.ts';

/** Maximum number of webhooks of a partner under an event. */
export const WEBHOOK_LIMIT = 10;
const ENTRY_LIMIT = 500;
export const DEFAULT_WEBHOOK_ENTRY_LIMIT = 100;
/** Time during which messages are also signed with the previous secret. */
export const DEFAULT_WEBHOOK_OVERLAP_HOURS = 24;
const OVERLAP_LIMIT_HOURS = 720;

const EXAMPLE_ID = '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f';

/** The fields that a partner sets. */
const fields = {
  url: Text(
    'The https URL that receives the messages, at most 2048 characters, without user name and password',
    'https://partner.example/floodgate',
    { maxLength: 2_048, pattern: '^https?://[\\x21-\\x7e]+$' },
  ),
  description: Text('A note for yourself: at most 255 characters, no control characters', 'production', {
    maxLength: 255,
    pattern: '^[^\\x00-\\x1f\\x7f]*$',
  }),
  types: Type.Array(
    oneOf(WEBHOOK_EVENT_TYPES, `One of ${WEBHOOK_EVENT_TYPES.join(', ')}`, 'registration.confirmed'),
    {
      minItems: 1,
      maxItems: WEBHOOK_EVENT_TYPES.length,
      uniqueItems: true,
      description: 'The types of entries to send, each at most once. Default: all types',
      examples: [['registration.confirmed', 'registration.cancelled']],
    },
  ),
  entriesPerMessage: Whole(
    `The maximum number of entries in one message, from 1 to ${ENTRY_LIMIT}. Default: ` +
      `${DEFAULT_WEBHOOK_ENTRY_LIMIT}. A message with several entries has at most 20 KiB`,
    DEFAULT_WEBHOOK_ENTRY_LIMIT,
    { minimum: 1, maximum: ENTRY_LIMIT },
  ),
};

const include = Type.Array(oneOf(['partnerReference'], 'partnerReference', 'partnerReference'), {
  maxItems: 1,
  description:
    'Additional fields of each registration: `partnerReference`, your own reference. Default: none',
  examples: [['partnerReference']],
});

/** A change to a webhook. Missing fields are not changed. */
export const WebhookChange = Type.Partial(Type.Object({ ...fields, include }), { title: 'WebhookChange' });
export type WebhookChange = Static<typeof WebhookChange>;

/** A webhook to create. */
export const WebhookRequest = open('WebhookRequest', {
  ...WebhookChange.properties,
  url: { ...fields.url, description: `Required. ${fields.url.description!}` },
  from: Type.Optional(
    oneOf(
      ['start', 'now'],
      'First entry to send. start (default): the oldest entry that is kept. now: the next entry',
      'start',
    ),
  ),
  paused: Type.Optional(
    Flag(
      'true: no message is sent until you resume the webhook, so you can configure the secret in your ' +
        'receiver first. Default: false',
      false,
    ),
  ),
});
export type WebhookRequest = Static<typeof WebhookRequest>;

export const WebhookReplay = open('WebhookReplay', {
  since: Timestamp(
    'A time with an offset, such as 2026-11-21T09:00:00Z. Entries from this time on are sent again',
    '2026-11-21T09:00:00Z',
  ),
});

export const WebhookRotation = open('WebhookRotation', {
  overlapHours: Type.Optional(
    Whole(
      'Number of hours during which messages are also signed with the previous secret, from 0 to ' +
        `${OVERLAP_LIMIT_HOURS}. Default: ${DEFAULT_WEBHOOK_OVERLAP_HOURS}`,
      DEFAULT_WEBHOOK_OVERLAP_HOURS,
      { minimum: 0, maximum: OVERLAP_LIMIT_HOURS },
    ),
  ),
});

export const WebhookPath = Type.Object({
  webhookId: Text('The id of the webhook, a UUID', EXAMPLE_ID, { pattern: UUID_PATTERN }),
});

/** A webhook in the API. */
export const Webhook = closed('Webhook', {
  id: Text('Id of the webhook.', EXAMPLE_ID),
  ...fields,
  // Only if it is not empty: the shape is older than this field.
  include: Type.Optional(include),
  state: oneOf(
    ['active', 'paused', 'disabled'],
    'active: messages are sent. paused: you or the operator paused it. disabled: the service stopped it, ' +
      'see disabledReason.',
    'active',
  ),
  disabledReason: oneOf(
    ['gone', 'failing', 'test_event', null],
    'gone: the receiver answered 410. failing: no message could be delivered for five days. ' +
      'test_event: this service sends no messages for test events. null: the webhook is not disabled.',
    null,
  ),
  cursor: Text('Entries up to this cursor are delivered. List Registrations accepts it as `after`.', '100'),
  failures: Whole('Consecutive failed attempts. Attempts with the outcome slowed do not count.', 0),
  dateFailing: nullableTimestamp(
    'Start of the current series of failed or slowed attempts. null: the last attempt succeeded.',
  ),
  dateNextAttempt: nullableTimestamp('Time of the next attempt. null: none is scheduled.'),
  publicKey: Text(
    'Public key that verifies v1a signatures (Ed25519). It is not secret.',
    'whpk_MCowBQYDK2VwAyEA1234567890abcdefghijklmnopq=',
  ),
  dateCreated: Timestamp('Creation time of the webhook.'),
});
export type Webhook = Static<typeof Webhook>;

/** A webhook with its new secret, which no other answer contains. */
export const WebhookWithSecret = closed('WebhookWithSecret', {
  ...Webhook.properties,
  secret: Text(
    'Secret that verifies v1 signatures (HMAC). Store it now: it is not shown again.',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw4kQ1gT2b0Zc=',
  ),
});

export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

export const WebhookList = Type.Array(Webhook, {
  title: 'WebhookList',
  description: 'The webhooks, oldest first.',
});

/** An attempt to send a message. */
export const WebhookAttempt = closed('WebhookAttempt', {
  messageId: Text('The header webhook-id of the message.', 'msg_c2FtcGxlIG1lc3NhZ2UgaWQ'),
  previousCursor: nullable('The message has the entries after this cursor. null: a test message.', '0'),
  cursor: nullable('Cursor of the last entry in the message. null: a test message.', '100'),
  entries: Whole('Number of entries in the message.', 72),
  dateAttempted: Timestamp('End time of the attempt.'),
  milliseconds: Whole('Duration of the attempt in milliseconds.', 38),
  outcome: oneOf(
    ['delivered', 'slowed', 'gone', 'refused', 'failed', 'stopped'],
    'delivered: the receiver answered 2xx. slowed: 429, 502, 503 or 504 with Retry-After. gone: 410. ' +
      'refused: another status. ' +
      'failed: no answer. stopped: the service was stopped during the attempt.',
    'delivered',
  ),
  httpStatus: nullable('HTTP status of the answer. null: there was no answer.', 204, Type.Integer()),
  error: nullable(
    'Error code if there was no answer, such as TIMEOUT, ECONNREFUSED or FORBIDDEN_ADDRESS. Otherwise null.',
    null,
  ),
});
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const WebhookAttempts = Type.Array(WebhookAttempt, {
  title: 'WebhookAttempts',
  description: 'The attempts, latest first.',
});

export const WebhookAttemptsQuery = Type.Object({ limit: Limit('attempts') });

export const WebhookTest = closed('WebhookTest', {
  messageId: Text(
    'The header webhook-id of the test message. List Attempts shows its outcome.',
    'msg_test_0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
  ),
});
