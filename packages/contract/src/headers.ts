import { Type } from '@sinclair/typebox';
import { oneOf, Text } from './fields.ts';

/** The event in examples. It exists nowhere. */
export const EXAMPLE_EVENT_REF = '01234567-89ab-4cde-8f01-23456789abcd';

/** Header that names the event on every operation. Checked by the hook that authenticates, before any schema. */
export const CallerHeaders = Type.Object({
  'x-event-ref': { ...Text("The event's reference, a UUID.", EXAMPLE_EVENT_REF), format: 'uuid' },
});

/**
 * Optional headers of Register For Event. The title is the sentence that a caller reads when the header is wrong. They have no
 * examples: tools put examples into the requests that they send.
 */
export const RegisterHeaders = Type.Partial(
  Type.Object({
    'idempotency-key': Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]*$',
      title: 'Idempotency-Key: 1 to 255 visible ASCII characters',
      description:
        'Makes a retry safe: for 24 hours the same key with the same request returns the first answer again ' +
        '(with the header Idempotent-Replayed: true). 1 to 255 visible ASCII characters, scoped to partner and event.',
    }),
    'hold-for': Type.String({
      pattern: '^(?:[6-9][0-9]|[1-9][0-9]{2}|1[0-7][0-9]{2}|1800)$',
      title: 'Hold-For: seconds, a whole number from 60 to 1800',
      description:
        'Holds the seats for this many seconds, from 60 to 1800, by the clock of the service. Confirm Registration keeps ' +
        'them. Otherwise they are cancelled when the hold expires. Without this header the registration is permanent.',
    }),
  }),
);

/** Header of every answer. */
export const RequestIdHeader = {
  'x-request-id': Text('Identifies the answer. Include it when you contact the operator.', '5f1d0c2b7a9e-1k'),
};

/** Headers of every answer to a partner that has a limit (draft-ietf-httpapi-ratelimit-headers). */
export const RateLimitHeaders = {
  'RateLimit-Policy': Text(
    'The limit, only if you agreed on one: `q` requests in `w` seconds.',
    '"partner";q=100;w=1',
  ),
  RateLimit: Text(
    'Approximate number of remaining requests (`r`), and the seconds until it is reset (`t`).',
    '"partner";r=42;t=1',
  ),
};

export const MAX_RETRY_AFTER_SECONDS = 30;

/** Header of answers that say when to retry. */
export const RetryAfterHeader = {
  'Retry-After': Type.Integer({
    minimum: 1,
    maximum: MAX_RETRY_AFTER_SECONDS,
    description: 'Seconds to wait before a retry. Estimated from the backlog, with some randomness.',
    examples: [2],
  }),
};

/** Header of an answer that is repeated for an Idempotency-Key. */
export const ReplayedHeader = {
  'Idempotent-Replayed': oneOf(['true'], {
    description: '`true` if the first answer is repeated.',
    examples: ['true'],
  }),
};

/** Header of every answer to a caller that named a key and an event. */
export const CacheControlHeader = {
  'Cache-Control': Text('Always `no-store`: caches must not store the answer.', 'no-store'),
};

/** Header of answers whose media type depends on the request. */
export const VaryHeader = {
  Vary: Text('Always `accept`: the request header `Accept` decides between JSON and a picture.', 'accept'),
};

/** Request header that enables X-Invalid-Fields. Other values are ignored. */
export const ErrorDetailsHeader = {
  'x-error-details': Type.Optional(
    oneOf(['json'], { description: '`json` adds the header X-Invalid-Fields to an answer with code 11.' }),
  ),
};

/** Header of code 11, if the caller enabled it. */
export const InvalidFieldsHeader = {
  'X-Invalid-Fields': Text(
    'Only if the request had `X-Error-Details: json`: the invalid fields as a JSON array of `field` and `rule`, in ASCII. ' +
      'It lists the first 50 at most, in at most 4 KiB, and never holds the values that were sent.',
    '[{"field":"fullName","rule":"required"},{"field":"emailAddress","rule":"format"}]',
  ),
};
