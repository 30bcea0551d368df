import { Type } from '@sinclair/typebox';
import { oneOf, Text, Whole } from './fields.ts';

/** The event in examples. It exists nowhere. */
export const EXAMPLE_EVENT_REF = '01234567-89ab-4cde-8f01-23456789abcd';

/** Header that names the event on every operation. Checked by the hook that authenticates, before any schema. */
export const CallerHeaders = Type.Object({
  'x-event-ref': Text("The event's reference, a UUID.", EXAMPLE_EVENT_REF, { format: 'uuid' }),
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

/** Request header that enables X-Invalid-Fields. Other values are ignored. */
export const ErrorDetailsHeader = {
  'x-error-details': Type.Optional(
    oneOf(['json'], '`json` adds the header X-Invalid-Fields to an answer with code 11.'),
  ),
};

export const MAX_RETRY_AFTER_SECONDS = 30;

/** The headers of answers. */
export const ANSWER_HEADERS = {
  'x-request-id': Text('Identifies the answer. Include it when you contact the operator.', '5f1d0c2b7a9e-1k'),
  'Cache-Control': Text('Always `no-store`: caches must not store the answer.', 'no-store'),
  // For partners that have a limit (draft-ietf-httpapi-ratelimit-headers).
  'RateLimit-Policy': Text(
    'The limit, only if you agreed on one: `q` requests in `w` seconds.',
    '"partner";q=100;w=1',
  ),
  RateLimit: Text(
    'Approximate number of remaining requests (`r`), and the seconds until it is reset (`t`).',
    '"partner";r=42;t=1',
  ),
  'Retry-After': Whole(
    'Seconds to wait before a retry. Estimated from the backlog, with some randomness.',
    2,
    { minimum: 1, maximum: MAX_RETRY_AFTER_SECONDS },
  ),
  'X-Invalid-Fields': Text(
    'Only if the request had `X-Error-Details: json`: the invalid fields as a JSON array of `field` and `rule`, in ASCII. ' +
      'It lists the first 50 at most, in at most 4 KiB, and never holds the values that were sent.',
    '[{"field":"fullName","rule":"required"},{"field":"emailAddress","rule":"format"}]',
  ),
  // For an Idempotency-Key.
  'Idempotent-Replayed': oneOf(['true'], '`true` if the first answer is repeated.', 'true'),
  Vary: Text('Always `accept`: the request header `Accept` decides between JSON and a picture.', 'accept'),
};
export type AnswerHeader = keyof typeof ANSWER_HEADERS;
