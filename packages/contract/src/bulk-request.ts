import { Type, type Static } from '@sinclair/typebox';
import { PassReference } from './answers.ts';
import { failure, FailureEnvelope, success, SuccessEnvelope } from './envelope.ts';
import { closed, oneOf } from './fields.ts';
import { RegistrationRequest } from './registration-request.ts';
import type { FailureCode } from './response-codes.ts';

/** Most registrations of one bulk call. */
export const BULK_LIMIT = 1_000;

/** Largest body of a bulk call that is read. */
export const BULK_BODY_LIMIT_BYTES = 1024 * 1024;

/** Body of a bulk call. An invalid registration is answered in its own place. */
export const BulkRegistrationRequest = Type.Object(
  {
    registrations: Type.Array(RegistrationRequest, {
      minItems: 1,
      maxItems: BULK_LIMIT,
      description: `Required, 1 to ${BULK_LIMIT} registrations, each as Register For Event takes it`,
    }),
    mode: Type.Optional(
      oneOf(['each', 'all'], {
        description:
          'Optional, "each" (the default: each registration for itself) or "all" (all of them or none)',
        examples: ['each'],
      }),
    ),
  },
  {
    title: 'BulkRegistrationRequest',
    description: 'The attendees and their tickets. Unknown fields are ignored.',
  },
);

export type BulkRegistrationRequest = Static<typeof BulkRegistrationRequest>;

/** Why one registration of a bulk call was refused, while the call itself was answered "00". */
export const BULK_ITEM_FAILURES = ['11', '30', '31', '32', '33', '36', '37'] as const satisfies FailureCode[];

const RegisteredItem = { ...SuccessEnvelope(PassReference), title: 'RegisteredItem' };

const RefusedItem = closed('RefusedItem', {
  ...FailureEnvelope.properties,
  responseCode: oneOf<FailureCode>(BULK_ITEM_FAILURES, {
    ...FailureEnvelope.properties.responseCode,
    examples: ['32'],
  }),
});

const EXAMPLE = [success('GALA-1042-317-4829137450'), failure('32', 'The ticket is sold out')];

/** The data of a bulk call: the envelope of each registration, in order. */
export const BulkRegistrationAnswers = Type.Array(
  Type.Union([RegisteredItem, RefusedItem], { title: 'BulkItem' }),
  { description: 'An envelope for each registration, in order.', examples: [EXAMPLE] },
);
