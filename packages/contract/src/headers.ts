import { Type, type Static } from '@sinclair/typebox';

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Headers that identify the caller and the event on every operation. */
export const CallerHeaders = Type.Object({
  'x-event-ref': Type.String({ format: 'uuid', description: "The event's reference, a UUID." }),
});

/** Headers of Register For Event. */
export const RegisterHeaders = Type.Object({
  ...CallerHeaders.properties,
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]*$',
      description:
        'Makes a retry safe: for 24 hours the same key with the same request answers the first answer again ' +
        '(with the header Idempotent-Replayed: true). 1 to 255 visible ASCII characters, scoped to partner and event.',
    }),
  ),
});

/** Headers of every answer to a partner that has a limit (draft-ietf-httpapi-ratelimit-headers). */
export const RateLimitHeaders = {
  'RateLimit-Policy': {
    type: 'string',
    description: 'The limit, only where one was agreed: `q` requests in `w` seconds. `"partner";q=100;w=1`',
  },
  RateLimit: {
    type: 'string',
    description: 'About how many requests remain (`r`), and for how many seconds (`t`). `"partner";r=42;t=1`',
  },
} as const;

export type RegisterHeaders = Static<typeof RegisterHeaders>;

/** Returns whether the value is 1 to 255 visible ASCII characters. */
export function isIdempotencyKey(value: unknown): value is string {
  return typeof value === 'string' && IDEMPOTENCY_KEY.test(value);
}
