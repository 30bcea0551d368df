import { Type } from '@sinclair/typebox';
import { oneOf, Text, Whole } from './fields.ts';

/** The event reference in examples. No event has it. */
export const EXAMPLE_EVENT_REF = '01234567-89ab-4cde-8f01-23456789abcd';

/** The header that names the event of every operation. The authentication hook checks it before any schema. */
export const CallerHeaders = Type.Object({
  'x-event-ref': Text("The event's reference, a UUID.", EXAMPLE_EVENT_REF, { format: 'uuid' }),
});

/**
 * Optional headers of Register For Event. The title is the error message for an invalid header. They have no
 * examples, because tools would send them.
 */
export const RegisterHeaders = Type.Partial(
  Type.Object({
    'idempotency-key': Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]*$',
      title: 'Idempotency-Key: 1 to 255 visible ASCII characters',
      description:
        'Makes retries safe. For 24 hours, the same key with the same request returns the first answer ' +
        'again, with the header ' +
        'Idempotent-Replayed: true. 1 to 255 visible ASCII characters. The key is scoped to the partner and the event.',
    }),
    'hold-for': Type.String({
      pattern: '^(?:[6-9][0-9]|[1-9][0-9]{2,4}|[1-5][0-9]{5}|60[0-3][0-9]{3}|604[0-7][0-9]{2}|604800)$',
      title: 'Hold-For: seconds, a whole number from 60 to 604800',
      description:
        'Holds the seats for this number of seconds, from 60 to 604800, by the clock of the service. ' +
        'Confirm Registration keeps a ' +
        'seat. Otherwise the registration is cancelled when its hold expires. Without this header, ' +
        'registrations are permanent.',
    }),
  }),
);

/** Request header that enables X-Invalid-Fields. Other values are ignored. */
export const ErrorDetailsHeader = {
  'x-error-details': Type.Optional(
    oneOf(
      ['json'],
      '`json` adds the header X-Invalid-Fields to an answer with code 11, and to code 33 of Confirm Hold.',
    ),
  ),
};

export const MAX_RETRY_AFTER_SECONDS = 30;

/** Headers of answers. */
export const ANSWER_HEADERS = {
  'x-request-id': Text('Identifies the answer. Include it when you contact the operator.', '5f1d0c2b7a9e-1k'),
  'Cache-Control': Text('Always `no-store`: caches must not store the answer.', 'no-store'),
  // Only for partners with a limit (draft-ietf-httpapi-ratelimit-headers).
  'RateLimit-Policy': Text(
    'Your rate limit, if you have one: `q` requests in `w` seconds.',
    '"partner";q=100;w=1',
  ),
  RateLimit: Text(
    'Approximate number of remaining requests (`r`), and seconds until the reset (`t`). Sent only if you ' +
      'have a rate limit.',
    '"partner";r=42;t=1',
  ),
  'Retry-After': Whole(
    'Number of seconds to wait before a retry: an estimate from the backlog, with random jitter.',
    2,
    { minimum: 1, maximum: MAX_RETRY_AFTER_SECONDS },
  ),
  'X-Invalid-Fields': Text(
    'Invalid fields, as a JSON array of `field` and `rule` in ASCII. Sent only if the request has ' +
      '`X-Error-Details: json`. ' +
      'Lists at most the first 50 fields, in at most 4 KiB, and never contains the values that you sent.',
    '[{"field":"fullName","rule":"required"},{"field":"emailAddress","rule":"format"}]',
  ),
  // Only with an Idempotency-Key.
  'Idempotent-Replayed': oneOf(['true'], '`true` if this is a repetition of the first answer.', 'true'),
  Vary: Text('Always `accept`: the request header `Accept` selects JSON or a picture.', 'accept'),
};
export type AnswerHeader = keyof typeof ANSWER_HEADERS;
