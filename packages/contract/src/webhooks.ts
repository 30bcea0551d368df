import { Type, type Static } from '@sinclair/typebox';
import { nullableTimestamp, oneOf, Timestamp } from './fields.ts';
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
export const WEBHOOK_ENTRY_LIMIT = 500;
export const DEFAULT_WEBHOOK_ENTRY_LIMIT = 100;
/** How long the previous secret still signs. */
export const DEFAULT_WEBHOOK_OVERLAP_HOURS = 24;
export const WEBHOOK_OVERLAP_LIMIT_HOURS = 720;
export const DEFAULT_WEBHOOK_ATTEMPTS = 100;

const EXAMPLE_ID = '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f';
const WebhookType = oneOf(WEBHOOK_EVENT_TYPES, {
  description: `One of ${WEBHOOK_EVENT_TYPES.join(', ')}`,
  examples: ['registration.confirmed'],
});

const fields = {
  url: Type.String({
    maxLength: 2_048,
    pattern: '^https?://[\\x21-\\x7e]+$',
    description:
      'The URL that receives the messages: https, at most 2048 characters, without a user and a password',
    examples: ['https://partner.example/floodgate'],
  }),
  description: Type.String({
    maxLength: 255,
    pattern: '^[^\\x00-\\x1f\\x7f]*$',
    description: 'A note for yourself: at most 255 characters, no control characters',
    examples: ['production'],
  }),
  types: Type.Array(WebhookType, {
    minItems: 1,
    maxItems: WEBHOOK_EVENT_TYPES.length,
    uniqueItems: true,
    description: `The types of entries to send, each at most once: ${WEBHOOK_EVENT_TYPES.join(', ')}. Default: all of them`,
    examples: [['registration.confirmed', 'registration.cancelled']],
  }),
  entriesPerMessage: Type.Integer({
    minimum: 1,
    maximum: WEBHOOK_ENTRY_LIMIT,
    description: `The maximum number of entries in one message, from 1 to ${WEBHOOK_ENTRY_LIMIT}. Default: ${DEFAULT_WEBHOOK_ENTRY_LIMIT}. A message with several entries has at most 20 KiB`,
    examples: [DEFAULT_WEBHOOK_ENTRY_LIMIT],
  }),
};

/** A change of a webhook. Fields that are missing stay as they are. */
export const WebhookChange = Type.Partial(Type.Object(fields), { title: 'WebhookChange' });
export type WebhookChange = Static<typeof WebhookChange>;

/** A webhook to create. */
export const WebhookRequest = Type.Object(
  {
    ...WebhookChange.properties,
    url: { ...fields.url, description: `Required. ${fields.url.description!}` },
    from: Type.Optional(
      oneOf(['start', 'now'], {
        description:
          'Where the messages start. start (default): at the oldest entry that is kept. now: at the next entry',
        examples: ['start'],
      }),
    ),
    paused: Type.Optional(
      Type.Boolean({
        description:
          'true: no message is sent until you resume the webhook, so you can configure the secret in your receiver first. Default: false',
        examples: [false],
      }),
    ),
  },
  { title: 'WebhookRequest' },
);
export type WebhookRequest = Static<typeof WebhookRequest>;

export const WebhookReplay = Type.Object(
  {
    since: Type.String({
      format: 'date-time',
      description: 'A time with an offset, such as 2026-11-21T09:00:00Z. Entries from then on are sent again',
      examples: ['2026-11-21T09:00:00Z'],
    }),
  },
  { title: 'WebhookReplay' },
);

export const WebhookRotation = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: WEBHOOK_OVERLAP_LIMIT_HOURS,
        description: `For how many hours messages are also signed with the previous secret, from 0 to ${WEBHOOK_OVERLAP_LIMIT_HOURS}. Default: ${DEFAULT_WEBHOOK_OVERLAP_HOURS}`,
        examples: [DEFAULT_WEBHOOK_OVERLAP_HOURS],
      }),
    ),
  },
  { title: 'WebhookRotation' },
);

export const WebhookPath = Type.Object({
  webhookId: Type.String({
    pattern: UUID_PATTERN,
    description: 'The id of the webhook, a UUID',
    examples: [EXAMPLE_ID],
  }),
});

const webhook = {
  id: Type.String({ description: 'Id of the webhook.', examples: [EXAMPLE_ID] }),
  url: Type.String({ description: 'The URL that receives the messages.', examples: fields.url.examples! }),
  description: Type.String({ description: 'Your note.', examples: ['production'] }),
  types: Type.Array(WebhookType, { description: 'The types of entries that are sent.' }),
  entriesPerMessage: Type.Integer({
    description: 'The maximum number of entries in one message.',
    examples: [DEFAULT_WEBHOOK_ENTRY_LIMIT],
  }),
  state: oneOf(['active', 'paused', 'disabled'], {
    description:
      'active: messages are sent. paused: you or the operator paused it. disabled: the service stopped it, see disabledReason.',
    examples: ['active'],
  }),
  disabledReason: oneOf(['gone', 'failing', 'test_event', null], {
    description:
      'gone: the receiver answered 410. failing: no message could be delivered for five days. ' +
      'test_event: this service sends no messages for test events. null: the webhook is not disabled.',
    examples: [null],
  }),
  cursor: Type.String({
    description: 'Everything up to here was delivered. List Registrations accepts it as `after`.',
    examples: ['100'],
  }),
  failures: Type.Integer({
    description: 'Consecutive failed attempts. Attempts with the outcome slowed do not count.',
    examples: [0],
  }),
  dateFailing: nullableTimestamp(
    'Since when every attempt has failed or was slowed; null if the last attempt succeeded.',
    null,
  ),
  dateNextAttempt: nullableTimestamp('When the next attempt is due; null if none is scheduled.', null),
  publicKey: Type.String({
    description: 'Verifies signatures of the kind v1a (Ed25519). It is not secret.',
    examples: ['whpk_MCowBQYDK2VwAyEA1234567890abcdefghijklmnopq='],
  }),
  dateCreated: Timestamp('When the webhook was created.'),
};

/** A webhook as its partner sees it. */
export const Webhook = Type.Object(webhook, { title: 'Webhook', additionalProperties: false });
export type Webhook = Static<typeof Webhook>;

/** A webhook with its new secret, which no other answer contains. */
export const WebhookWithSecret = Type.Object(
  {
    ...webhook,
    secret: Type.String({
      description: 'Verifies signatures of the kind v1 (HMAC). Store it now: it is not shown again.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw4kQ1gT2b0Zc='],
    }),
  },
  { title: 'WebhookWithSecret', additionalProperties: false },
);
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

export const WebhookList = Type.Array(Webhook, {
  title: 'WebhookList',
  description: 'The webhooks, oldest first.',
});

/** An attempt to send a message. */
export const WebhookAttempt = Type.Object(
  {
    messageId: Type.String({
      description: 'The header webhook-id of the message.',
      examples: ['msg_c2FtcGxlIG1lc3NhZ2UgaWQ'],
    }),
    previousCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'The message has the entries after this cursor. null: it was a test.',
      examples: ['0'],
    }),
    cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'The cursor of the last entry in the message. null: it was a test.',
      examples: ['100'],
    }),
    entries: Type.Integer({ description: 'Number of entries in the message.', examples: [72] }),
    dateAttempted: Timestamp('When the attempt ended.'),
    milliseconds: Type.Integer({ description: 'How long the attempt took.', examples: [38] }),
    outcome: oneOf(['delivered', 'slowed', 'gone', 'refused', 'failed', 'stopped'], {
      description:
        'delivered: the receiver answered 2xx. slowed: 429, 502, 503 or 504 with Retry-After. gone: 410. refused: another status. ' +
        'failed: no answer. stopped: the service was stopped during the attempt.',
      examples: ['delivered'],
    }),
    httpStatus: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The status of the answer; null if there was no answer.',
      examples: [204],
    }),
    error: Type.Union([Type.String(), Type.Null()], {
      description:
        'Why there was no answer, such as TIMEOUT, ECONNREFUSED or FORBIDDEN_ADDRESS; null otherwise.',
      examples: [null],
    }),
  },
  { title: 'WebhookAttempt', additionalProperties: false },
);
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const WebhookAttempts = Type.Array(WebhookAttempt, {
  title: 'WebhookAttempts',
  description: 'The attempts, latest first.',
});

export const WebhookAttemptsQuery = Type.Object({
  limit: Type.Optional(
    Type.String({
      pattern: '^(?:[1-9][0-9]{0,2}|1000)$',
      description: `The maximum number of attempts to return, from 1 to 1000. Default: ${DEFAULT_WEBHOOK_ATTEMPTS}`,
    }),
  ),
});

export const WebhookTest = Type.Object(
  {
    messageId: Type.String({
      description: 'The header webhook-id of the test message. List Attempts shows its outcome.',
      examples: ['msg_test_0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f'],
    }),
  },
  { title: 'WebhookTest', additionalProperties: false },
);
