import { Type, type Static } from '@sinclair/typebox';
import { PassReference } from './answers.ts';
import { failure, FailureEnvelope, success, SuccessEnvelope } from './envelope.ts';
import { closed, oneOf, open, Text, Whole } from './fields.ts';
import { NAME_PATTERN, PHONE_PATTERN, PRINTABLE } from './people.ts';
import type { FailureCode } from './response-codes.ts';

// Patterns use no \p, look-ahead or similar features, so that tools in other languages can use them (Python's
// re and pydantic, Go, Rust, Java). people.ts says what the texts may contain, and why. The schemas describe
// the texts as they are stored: normalizePerson comes before the validation.

const nullableText = (description: string, example: string, rules: object) =>
  Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], ...rules, description, examples: [example] }),
  );

const freeText = (maxLength: number, example: string) =>
  nullableText(
    `Optional free text of at most ${maxLength} characters, no control or text direction characters`,
    example,
    { maxLength, pattern: PRINTABLE },
  );

/** The partner's own reference of a registration or hold. */
export const PartnerReference = nullableText(
  'Optional, your own reference such as an order number: 1 to 64 characters, no control or text ' +
    'direction characters. ' +
    'Several registrations may have the same',
  'order-4711',
  { minLength: 1, maxLength: 64, pattern: PRINTABLE },
);

/**
 * Body of Register For Event. Each description is also the error message for an invalid field. Lengths count
 * Unicode characters.
 */
export const RegistrationRequest = open(
  'RegistrationRequest',
  {
    fullName: Text(
      'Required, 1 to 255 characters after trimming, one of them visible, no control or text direction ' +
        'characters inside',
      'Jane Doe',
      { minLength: 1, maxLength: 255, pattern: NAME_PATTERN },
    ),
    emailAddress: Text(
      'Required, an e-mail address of at most 254 characters, with only ASCII before the @ and a dot in ' +
        'the domain after it',
      'jane@example.com',
      { maxLength: 254, format: 'email' },
    ),
    phoneNumber: nullableText(
      'Optional, at most 32 characters of any kind, no control characters',
      '+44 20 7946 0123',
      { maxLength: 32, pattern: PHONE_PATTERN },
    ),
    gender: freeText(32, 'female'),
    tableOrSeat: freeText(64, 'Table 7'),
    organizedEventTicketID: Whole(
      'Required, a whole number from 1 to 2147483647, the id of a ticket from Get Tickets',
      1,
      { minimum: 1, maximum: 2147483647 },
    ),
    extraData1: freeText(1000, 'vegetarian'),
    extraData2: freeText(1000, 'arrives by train'),
    partnerReference: PartnerReference,
  },
  'The attendee and the ticket. Unknown fields are ignored.',
);

export type RegistrationRequest = Static<typeof RegistrationRequest>;

/**
 * Maximum size of a body, unless the route has its own limit: the longest valid body of Register For Event
 * with every character escaped (\ud83d\ude00), as Python's json does by default, and 4 KiB for unknown fields
 * and white space. A test verifies this sum.
 */
export const BODY_LIMIT_BYTES = 36 * 1024;

/** Maximum number of registrations in one bulk call. */
export const BULK_LIMIT = 1_000;

/** Maximum size of the body of a bulk call. */
export const BULK_BODY_LIMIT_BYTES = 1024 * 1024;

/** Body of a bulk call. An invalid registration gets code 11 in its own item. */
export const BulkRegistrationRequest = open(
  'BulkRegistrationRequest',
  {
    registrations: Type.Array(RegistrationRequest, {
      minItems: 1,
      maxItems: BULK_LIMIT,
      description: `Required, 1 to ${BULK_LIMIT} registrations, each with the fields of Register For Event`,
    }),
    mode: Type.Optional(
      oneOf(
        ['each', 'all'],
        'Optional, "each" (the default: registrations succeed or fail separately) or "all" (all registrations or none)',
        'each',
      ),
    ),
  },
  'The attendees and their tickets. Unknown fields are ignored.',
);

/** Failure codes of one registration in a bulk call that is itself answered "00". */
export const BULK_ITEM_FAILURES = ['11', '30', '31', '32', '33', '36', '37'] as const satisfies FailureCode[];

const { responseCode, ...refused } = FailureEnvelope.properties;

/** The data of a bulk call: an envelope for each registration, in the order of the request. */
export const BulkRegistrationAnswers = Type.Array(
  Type.Union(
    [
      { ...SuccessEnvelope(PassReference), title: 'RegisteredItem' },
      closed('RefusedItem', {
        responseCode: oneOf<FailureCode>(BULK_ITEM_FAILURES, responseCode.description!, '32'),
        ...refused,
      }),
    ],
    { title: 'BulkItem' },
  ),
  {
    description: 'An envelope for each registration, in the order of the request.',
    examples: [[success('GALA-1042-317-4829137450'), failure('32')]],
  },
);
