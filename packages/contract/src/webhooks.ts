import { Type, type Static } from '@sinclair/typebox';
import { nullableTimestamp } from './answers.ts';
import { Timestamp, UUID_PATTERN } from './formats.ts';

export const WEBHOOK_EVENT_TYPES = [
  'registration.confirmed',
  'registration.cancelled',
  'registration.failed',
  'ticket.sold_out',
  'ticket.reopened',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Webhooks of a partner under an event. */
export const WEBHOOK_LIMIT = 10;
export const WEBHOOK_ENTRY_LIMIT = 500;
export const DEFAULT_WEBHOOK_ENTRY_LIMIT = 100;
/** How long the secret before is good for, where nothing is said, and at most. */
export const DEFAULT_WEBHOOK_OVERLAP_HOURS = 24;
export const WEBHOOK_OVERLAP_LIMIT_HOURS = 720;
export const DEFAULT_WEBHOOK_ATTEMPTS = 100;
const EXAMPLE_ID = '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f';
const ID_DESCRIPTION = 'Id of the webhook.';

const WebhookType = (description: string) =>
  Type.Unsafe<WebhookEventType>({
    type: 'string',
    enum: WEBHOOK_EVENT_TYPES,
    description,
    examples: ['registration.confirmed'],
  });

const fields = {
  url: Type.String({
    maxLength: 2_048,
    pattern: '^https?://[\\x21-\\x7e]+$',
    description:
      'Where messages are sent: an https URL of at most 2048 characters, without a user and a password',
    examples: ['https://partner.example/floodgate'],
  }),
  description: Type.String({
    maxLength: 255,
    pattern: '^[^\\x00-\\x1f\\x7f]*$',
    description: 'Optional, words for yourself: at most 255 characters, no control characters',
    examples: ['production'],
  }),
  types: Type.Array(WebhookType('One of the types.'), {
    minItems: 1,
    maxItems: WEBHOOK_EVENT_TYPES.length,
    uniqueItems: true,
    description: `Optional, what is told, each once; all of it where nothing is said: ${WEBHOOK_EVENT_TYPES.join(', ')}`,
    examples: [['registration.confirmed', 'registration.cancelled']],
  }),
  entriesPerMessage: Type.Integer({
    minimum: 1,
    maximum: WEBHOOK_ENTRY_LIMIT,
    description: `Optional, how many entries a message carries at most, from 1 to ${WEBHOOK_ENTRY_LIMIT}; ${DEFAULT_WEBHOOK_ENTRY_LIMIT} where nothing is said. No message is larger than 20 KiB`,
    examples: [DEFAULT_WEBHOOK_ENTRY_LIMIT],
  }),
};

/** A webhook that a caller asks for. */
export const WebhookRequest = Type.Object(
  {
    url: { ...fields.url, description: `Required. ${fields.url.description!}` },
    description: Type.Optional(fields.description),
    types: Type.Optional(fields.types),
    entriesPerMessage: Type.Optional(fields.entriesPerMessage),
    from: Type.Optional(
      Type.Unsafe<'start' | 'now'>({
        type: 'string',
        enum: ['start', 'now'],
        description:
          'Optional, what is told first: start (where nothing is said), all that is kept; or now, what comes from now on',
        examples: ['start'],
      }),
    ),
    paused: Type.Optional(
      Type.Boolean({
        description:
          'Optional, true: no message is sent before you resume the webhook, so your receiver can know the secret by then; false where nothing is said',
        examples: [false],
      }),
    ),
  },
  { title: 'WebhookRequest' },
);
export type WebhookRequest = Static<typeof WebhookRequest>;

/** What a caller wants to have changed; what is not named stays. */
export const WebhookChange = Type.Partial(Type.Object(fields), { title: 'WebhookChange' });
export type WebhookChange = Static<typeof WebhookChange>;

/** Where messages go on from. */
export const WebhookReplay = Type.Object(
  {
    since: Type.String({
      format: 'date-time',
      description:
        'Required. What has happened since then is told again: a time with an offset, such as 2026-11-21T09:00:00Z',
      examples: ['2026-11-21T09:00:00Z'],
    }),
  },
  { title: 'WebhookReplay' },
);

/** How long the secret before is still good for. */
export const WebhookRotation = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: WEBHOOK_OVERLAP_LIMIT_HOURS,
        description: `Optional, for how many hours messages are signed with the secret before as well, from 0 to ${WEBHOOK_OVERLAP_LIMIT_HOURS}; ${DEFAULT_WEBHOOK_OVERLAP_HOURS} where nothing is said`,
        examples: [DEFAULT_WEBHOOK_OVERLAP_HOURS],
      }),
    ),
  },
  { title: 'WebhookRotation' },
);

export const WebhookPath = Type.Object({
  webhookId: Type.String({ pattern: UUID_PATTERN, description: ID_DESCRIPTION, examples: [EXAMPLE_ID] }),
});

const STATES = ['active', 'paused', 'disabled'] as const;
const REASONS = ['gone', 'failing', 'test_event'] as const;

const webhook = {
  id: Type.String({ description: ID_DESCRIPTION, examples: [EXAMPLE_ID] }),
  url: Type.String({ description: 'Where messages are sent.', examples: fields.url.examples! }),
  description: Type.String({ description: 'Your own words.', examples: ['production'] }),
  types: Type.Array(WebhookType('One of the types.'), { description: 'What is told.' }),
  entriesPerMessage: Type.Integer({
    description: 'How many entries a message carries at most.',
    examples: [DEFAULT_WEBHOOK_ENTRY_LIMIT],
  }),
  state: Type.Unsafe<(typeof STATES)[number]>({
    type: 'string',
    enum: STATES,
    description:
      'active: messages are sent. paused: by you or the operator. disabled: by the service, see disabledReason.',
    examples: ['active'],
  }),
  disabledReason: Type.Unsafe<(typeof REASONS)[number] | null>({
    type: ['string', 'null'],
    enum: [...REASONS, null],
    description:
      'gone: the receiver answered 410. failing: for five days nothing could be delivered. test_event: this service sends nothing for test events. null: it is not disabled.',
    examples: [null],
  }),
  cursor: Type.String({
    description: 'Everything up to here was delivered. List Registrations takes it as `after`.',
    examples: ['100'],
  }),
  failures: Type.Integer({
    description: 'Attempts in vain since the last that was not, without those that were slowed.',
    examples: [0],
  }),
  dateFailing: nullableTimestamp(
    'Since when every attempt has been in vain, those that were slowed included; null where the last one was not.',
    null,
  ),
  dateNextAttempt: nullableTimestamp('When it is tried again; null where it waits for nothing.', null),
  publicKey: Type.String({
    description: 'Checks the signatures of the kind v1a (Ed25519). It is no secret.',
    examples: ['whpk_MCowBQYDK2VwAyEA1234567890abcdefghijklmnopq='],
  }),
  dateCreated: Timestamp('When it was created.'),
};

/** A webhook as its partner sees it. */
export const Webhook = Type.Object(webhook, { title: 'Webhook', additionalProperties: false });
export type Webhook = Static<typeof Webhook>;

/** The same with its secret, which is shown this once. */
export const WebhookWithSecret = Type.Object(
  {
    ...webhook,
    secret: Type.String({
      description: 'Checks the signatures of the kind v1 (HMAC). Keep it: it is shown this once.',
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

const OUTCOMES = ['delivered', 'slowed', 'gone', 'refused', 'failed', 'stopped'] as const;

/** An attempt to send a message. */
export const WebhookAttempt = Type.Object(
  {
    messageId: Type.String({
      description: 'The header webhook-id.',
      examples: ['msg_c2FtcGxlIG1lc3NhZ2UgaWQ'],
    }),
    previousCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'What it told came after this cursor; null: it was a test.',
      examples: ['0'],
    }),
    cursor: Type.Union([Type.String(), Type.Null()], {
      description: 'And up to this one.',
      examples: ['100'],
    }),
    entries: Type.Integer({ description: 'How many entries it carried.', examples: [72] }),
    dateAttempted: Timestamp('When it ended.'),
    milliseconds: Type.Integer({ description: 'How long it took.', examples: [38] }),
    outcome: Type.Unsafe<(typeof OUTCOMES)[number]>({
      type: 'string',
      enum: OUTCOMES,
      description:
        'delivered: a 2xx. slowed: 429, 502, 503 or 504 with Retry-After. gone: 410. refused: another status. failed: no answer. stopped: the service was stopped meanwhile.',
      examples: ['delivered'],
    }),
    httpStatus: Type.Union([Type.Integer(), Type.Null()], {
      description: 'What was answered; null where nothing was.',
      examples: [204],
    }),
    error: Type.Union([Type.String(), Type.Null()], {
      description: 'Why nothing was answered, such as TIMEOUT, ECONNREFUSED or FORBIDDEN_ADDRESS.',
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
      description: `Optional, how many attempts at most, from 1 to 1000; ${DEFAULT_WEBHOOK_ATTEMPTS} where it is missing`,
    }),
  ),
});

/** What is known of a test that was asked for. */
export const WebhookTest = Type.Object(
  {
    messageId: Type.String({
      description: 'The header webhook-id of the message, and how List Attempts names it.',
      examples: ['msg_test_0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f'],
    }),
  },
  { title: 'WebhookTest', additionalProperties: false },
);
