import { Type, type Static } from '@sinclair/typebox';
import { PassReference, RegistrationStatus, ticketOfEvent } from './answers.ts';
import { closed, nullable, nullableTimestamp, oneOf, open, Uuid, Whole } from './fields.ts';
import { PartnerReference, RegistrationRequest } from './registration-request.ts';

/** Maximum number of seats of a hold. */
export const HOLD_LIMIT = 100;
/** How long a hold lasts without the header Hold-For. */
export const DEFAULT_HOLD_SECONDS = 600;

const seats = (description: string) => Whole(description, 2, { minimum: 1, maximum: HOLD_LIMIT });
const LIMITS = { minItems: 1, maxItems: HOLD_LIMIT };

/** Body of Hold Seats. */
export const HoldRequest = open(
  'HoldRequest',
  {
    tickets: Type.Array(
      Type.Object({
        organizedEventTicketID: RegistrationRequest.properties.organizedEventTicketID,
        seats: seats(`Required, a whole number from 1 to ${HOLD_LIMIT}, the number of seats of this ticket`),
      }),
      {
        ...LIMITS,
        description: `Required, the tickets with their number of seats, together at most ${HOLD_LIMIT}`,
      },
    ),
    partnerReference: PartnerReference,
  },
  'The seats to hold. Unknown fields are ignored.',
);
export type HoldRequest = Static<typeof HoldRequest>;

export const Attendee = Type.Omit(RegistrationRequest, ['organizedEventTicketID', 'partnerReference'], {
  title: 'Attendee',
  description: 'An attendee, or the contact for all seats of a hold.',
});
export type Attendee = Static<typeof Attendee>;

/** Body of Confirm Hold: either attendees or a contact. */
export const HoldConfirmation = open(
  'HoldConfirmation',
  {
    attendees: Type.Optional(
      Type.Array(Attendee, {
        ...LIMITS,
        description: `The attendees, at most ${HOLD_LIMIT}: one for each held seat, in the order of the hold`,
      }),
    ),
    contact: Type.Optional(Attendee),
  },
  'The attendees: either `attendees` or `contact`. Unknown fields are ignored.',
);

/** Body of Release Hold. */
export const HoldRelease = open(
  'HoldRelease',
  {
    passReferences: Type.Optional(
      Type.Array(PassReference, {
        ...LIMITS,
        description: `Optional, at most ${HOLD_LIMIT} pass references of the seats to release. Default: all seats`,
      }),
    ),
  },
  'The seats to release. Unknown fields are ignored.',
);

export const HoldPath = Type.Object({ holdReference: Uuid('The reference of the hold, a UUID') });

/** A seat of a hold. It is a registration. */
const HeldSeat = closed('HeldSeat', {
  passReference: PassReference,
  state: RegistrationStatus.properties.state,
  organizedEventTicketID: ticketOfEvent.organizedEventTicketID,
});

/** A hold: seats that are kept for one basket. */
export const Hold = closed('Hold', {
  ...HoldPath.properties,
  partnerReference: nullable('Your own reference. null: you sent none.', 'order-4711'),
  state: oneOf(
    ['held', 'confirmed', 'cancelled'],
    'held: a seat waits for its attendee. confirmed: the hold is confirmed. cancelled: all seats were released, or the hold expired.',
    'held',
  ),
  dateExpires: nullableTimestamp(
    'Time at which the held seats are released unless you confirm the hold. null: no seat is held.',
    '2026-11-21T09:10:00.123+00:00',
  ),
  seats: Type.Array(HeldSeat, { description: 'The seats, in the order of the request.' }),
});
export type Hold = Static<typeof Hold>;
