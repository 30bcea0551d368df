import { Type, type Static } from '@sinclair/typebox';
import { Limit } from './answers.ts';
import { closed, Flag, nullable, nullableTimestamp, oneOf, open, Text, Timestamp, Whole } from './fields.ts';
import { UUID_PATTERN } from './formats.ts';

export const WEBHOOK_EVENT_TYPES = [
  'registration.confirmed',
  'registration.cancelled',
  'registration.failed',
  'ticket.sold_out',
  'ticket.reopened',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Webhooks that a partner may have under an event. */
export const WEBHOOK_LIMIT = 10;
const ENTRY_LIMIT = 500;
export const DEFAULT_WEBHOOK_ENTRY_LIMIT = 100;
/** How long the previous secret still signs. */
export const DEFAULT_WEBHOOK_OVERLAP_HOURS = 24;
const OVERLAP_LIMIT_HOURS = 720;

const EXAMPLE_ID = '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f';

/** The fields that a partner sets. */
const fields = {
  url: Text(
    'The URL that receives the messages: https, at most 2048 characters, without a user and a password',
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
      description: `The types of entries to send, each at most once: ${WEBHOOK_EVENT_TYPES.join(', ')}. Default: all of them`,
      examples: [['registration.confirmed', 'registration.cancelled']],
    },
  ),
  entriesPerMessage: Whole(
    `The maximum number of entries in one message, from 1 to ${ENTRY_LIMIT}. Default: ${DEFAULT_WEBHOOK_ENTRY_LIMIT}. A message with several entries has at most 20 KiB`,
    DEFAULT_WEBHOOK_ENTRY_LIMIT,
    { minimum: 1, maximum: ENTRY_LIMIT },
  ),
};

/** A change of a webhook. Fields that are missing stay as they are. */
export const WebhookChange = Type.Partial(Type.Object(fields), { title: 'WebhookChange' });
export type WebhookChange = Static<typeof WebhookChange>;

/** A webhook to create. */
export const WebhookRequest = open('WebhookRequest', {
  ...WebhookChange.properties,
  url: { ...fields.url, description: `Required. ${fields.url.description!}` },
  from: Type.Optional(
    oneOf(
      ['start', 'now'],
      'Where the messages start. start (default): at the oldest entry that is kept. now: at the next entry',
      'start',
    ),
  ),
  paused: Type.Optional(
    Flag(
      'true: no message is sent until you resume the webhook, so you can configure the secret in your receiver first. Default: false',
      false,
    ),
  ),
});
export type WebhookRequest = Static<typeof WebhookRequest>;

export const WebhookReplay = open('WebhookReplay', {
  since: Timestamp(
    'A time with an offset, such as 2026-11-21T09:00:00Z. Entries from then on are sent again',
    '2026-11-21T09:00:00Z',
  ),
});

export const WebhookRotation = open('WebhookRotation', {
  overlapHours: Type.Optional(
    Whole(
      `For how many hours messages are also signed with the previous secret, from 0 to ${OVERLAP_LIMIT_HOURS}. Default: ${DEFAULT_WEBHOOK_OVERLAP_HOURS}`,
      DEFAULT_WEBHOOK_OVERLAP_HOURS,
      { minimum: 0, maximum: OVERLAP_LIMIT_HOURS },
    ),
  ),
});

export const WebhookPath = Type.Object({
  webhookId: Text('The id of the webhook, a UUID', EXAMPLE_ID, { pattern: UUID_PATTERN }),
});

const webhook = {
  id: Text('Id of the webhook.', EXAMPLE_ID),
  ...fields,
  state: oneOf(
    ['active', 'paused', 'disabled'],
    'active: messages are sent. paused: you or the operator paused it. disabled: the service stopped it, see disabledReason.',
    'active',
  ),
  disabledReason: oneOf(
    ['gone', 'failing', 'test_event', null],
    'gone: the receiver answered 410. failing: no message could be delivered for five days. ' +
      'test_event: this service sends no messages for test events. null: the webhook is not disabled.',
    null,
  ),
  cursor: Text('Everything up to here was delivered. List Registrations accepts it as `after`.', '100'),
  failures: Whole('Consecutive failed attempts. Attempts with the outcome slowed do not count.', 0),
  dateFailing: nullableTimestamp(
    'Since when every attempt has failed or was slowed; null if the last attempt succeeded.',
    null,
  ),
  dateNextAttempt: nullableTimestamp('When the next attempt is due; null if none is scheduled.', null),
  publicKey: Text(
    'Verifies signatures of the kind v1a (Ed25519). It is not secret.',
    'whpk_MCowBQYDK2VwAyEA1234567890abcdefghijklmnopq=',
  ),
  dateCreated: Timestamp('When the webhook was created.'),
};

/** A webhook as its partner sees it. */
export const Webhook = closed('Webhook', webhook);
export type Webhook = Static<typeof Webhook>;

/** A webhook with its new secret, which no other answer contains. */
export const WebhookWithSecret = closed('WebhookWithSecret', {
  ...webhook,
  secret: Text(
    'Verifies signatures of the kind v1 (HMAC). Store it now: it is not shown again.',
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
  previousCursor: nullable(
    Type.String(),
    'The message has the entries after this cursor. null: it was a test.',
    '0',
  ),
  cursor: nullable(Type.String(), 'The cursor of the last entry in the message. null: it was a test.', '100'),
  entries: Whole('Number of entries in the message.', 72),
  dateAttempted: Timestamp('When the attempt ended.'),
  milliseconds: Whole('How long the attempt took.', 38),
  outcome: oneOf(
    ['delivered', 'slowed', 'gone', 'refused', 'failed', 'stopped'],
    'delivered: the receiver answered 2xx. slowed: 429, 502, 503 or 504 with Retry-After. gone: 410. refused: another status. ' +
      'failed: no answer. stopped: the service was stopped during the attempt.',
    'delivered',
  ),
  httpStatus: nullable(Type.Integer(), 'The status of the answer; null if there was no answer.', 204),
  error: nullable(
    Type.String(),
    'Why there was no answer, such as TIMEOUT, ECONNREFUSED or FORBIDDEN_ADDRESS; null otherwise.',
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
