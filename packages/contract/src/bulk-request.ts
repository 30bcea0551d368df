import { Type, type Static } from '@sinclair/typebox';
import { FailureEnvelope, SuccessEnvelope } from './envelope.ts';
import { RegistrationRequest } from './registration-request.ts';

/** Registrations that one bulk call may ask for. */
export const BULK_LIMIT = 1_000;

/** Largest body of a bulk call that is read. */
export const BULK_BODY_LIMIT_BYTES = 1024 * 1024;

/** Body of a bulk call. What is wrong with one of its registrations is answered in that one's place. */
export const BulkRegistrationRequest = Type.Object(
  {
    registrations: Type.Array(RegistrationRequest, {
      minItems: 1,
      maxItems: BULK_LIMIT,
      description: `Required, 1 to ${BULK_LIMIT} registrations, each as Register For Event takes it`,
    }),
    mode: Type.Optional(
      Type.Unsafe<'each' | 'all'>({
        type: 'string',
        enum: ['each', 'all'],
        description: 'Optional, "each" (registered one by one, the default) or "all" (all of them or none)',
        examples: ['each'],
      }),
    ),
  },
  { description: 'The attendees and their tickets. Unknown fields are ignored.' },
);

export type BulkRegistrationRequest = Static<typeof BulkRegistrationRequest>;

/** What a bulk call answers: the envelope of each registration, in order. */
export const BulkRegistrationAnswers = Type.Array(
  Type.Union([
    SuccessEnvelope(
      Type.String({
        description: 'Pass reference of the attendee. Treat it as opaque.',
        examples: ['GALA-1042-317-4829137450'],
      }),
    ),
    FailureEnvelope,
  ]),
);
