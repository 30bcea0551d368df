import { Type, type Static } from '@sinclair/typebox';
import { PassReference, RegistrationStatus, ticketOfEvent } from './answers.ts';
import { closed, nullable, nullableTimestamp, oneOf, open, Text, Timestamp, Uuid, Whole } from './fields.ts';
import { PartnerReference, RegistrationRequest } from './registration-request.ts';

/** Maximum number of seats of a hold. */
export const HOLD_LIMIT = 100;
/** How long a hold lasts without the header Hold-For. */
export const DEFAULT_HOLD_SECONDS = 600;

const seats = (description: string) => Whole(description, 2, { minimum: 1, maximum: HOLD_LIMIT });
const LIMITS = { minItems: 1, maxItems: HOLD_LIMIT };

const tickets = Type.Array(
  Type.Object({
    organizedEventTicketID: RegistrationRequest.properties.organizedEventTicketID,
    seats: seats(`Required, a whole number from 1 to ${HOLD_LIMIT}, the number of seats of this ticket`),
  }),
  {
    ...LIMITS,
    description: `Required, the tickets with their number of seats, together at most ${HOLD_LIMIT}`,
  },
);

/** Body of Hold Seats. */
export const HoldRequest = open(
  'HoldRequest',
  { tickets, partnerReference: PartnerReference },
  'The seats to hold. Unknown fields are ignored.',
);
export type HoldRequest = Static<typeof HoldRequest>;

/** Body of Add Seats. */
export const MoreSeats = open(
  'MoreSeats',
  { tickets },
  `The seats to add. A hold has at most ${HOLD_LIMIT}. Unknown fields are ignored.`,
);

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

/** Maximum number of holds that one call confirms. */
export const ORDER_LIMIT = 10;

/** Body of Confirm Holds. */
export const OrderConfirmation = open(
  'OrderConfirmation',
  {
    holds: Type.Array(
      Type.Object({
        holdReference: Uuid('Required, the reference of a hold, a UUID'),
        ...HoldConfirmation.properties,
      }),
      {
        minItems: 1,
        maxItems: ORDER_LIMIT,
        description: `Required, 1 to ${ORDER_LIMIT} holds, each once, with either \`attendees\` or \`contact\``,
      },
    ),
  },
  'The holds with their attendees. Unknown fields are ignored.',
);
export type OrderConfirmation = Static<typeof OrderConfirmation>;

/** Body of Cancel Registrations. */
export const Cancellation = open(
  'Cancellation',
  {
    passReferences: Type.Array(PassReference, {
      ...LIMITS,
      description: `Required, 1 to ${HOLD_LIMIT} pass references`,
    }),
  },
  'The registrations to cancel. Unknown fields are ignored.',
);

/** Answer of Cancel Registrations. */
export const Cancelled = closed('CancelledRegistrations', {
  passReferences: Type.Array(PassReference, {
    description: 'The cancelled registrations, in the order of the request.',
  }),
});

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
    'held: a seat waits for its attendee. confirmed: the hold is confirmed. cancelled: all seats were ' +
      'released, or the hold expired.',
    'held',
  ),
  dateExpires: nullableTimestamp(
    'Time at which the held seats are released unless you confirm the hold. null: no seat is held.',
    '2026-11-21T09:10:00.123+00:00',
  ),
  seats: Type.Array(HeldSeat, { description: 'The seats, in the order of the request.' }),
});
export type Hold = Static<typeof Hold>;

/** Query of Find Holds. */
export const HoldsQuery = Type.Object({
  partnerReference: Text('Required, your own reference, 1 to 64 characters', 'order-4711', {
    pattern: '^[^\\x00-\\x1f\\x7f]{1,64}$',
  }),
});

/** Holds of one reference. */
export const HoldList = closed('HoldList', {
  holds: Type.Array(Hold, { description: `The holds, the newest first, at most ${ORDER_LIMIT}.` }),
});

/** Answer of Confirm Holds. */
export const ConfirmedHolds = closed('ConfirmedHolds', {
  holds: Type.Array(Hold, { description: 'The holds, in the order of the request.' }),
});

/** Maximum number of seats of an entry. */
const WAITING_SEAT_LIMIT = 10;

/** Body of Join Waiting List. */
export const WaitingRequest = open(
  'WaitingRequest',
  {
    organizedEventTicketID: RegistrationRequest.properties.organizedEventTicketID,
    seats: Type.Optional(
      Whole(`The number of seats, a whole number from 1 to ${WAITING_SEAT_LIMIT}. Default: 1`, 2, {
        minimum: 1,
        maximum: WAITING_SEAT_LIMIT,
      }),
    ),
    contact: open(
      'WaitingContact',
      { fullName: Attendee.properties.fullName, emailAddress: Attendee.properties.emailAddress },
      'Required, the person who waits. You name the attendees when you confirm the offer.',
    ),
    partnerReference: PartnerReference,
  },
  'An entry to put on the waiting list of a ticket. Unknown fields are ignored.',
);
export type WaitingRequest = Static<typeof WaitingRequest>;

export const WaitingPath = Type.Object({ entry: Uuid('The reference of the entry, a UUID') });

/** An entry of a waiting list. */
export const WaitingEntry = closed('WaitingEntry', {
  entry: Text(
    'The reference of the entry. While the state is offered, it is also the reference of the hold: ' +
      'Confirm Hold accepts the offer.',
    WaitingPath.properties.entry.examples![0] as string,
  ),
  organizedEventTicketID: ticketOfEvent.organizedEventTicketID,
  seats: Whole('Number of seats.', 2),
  partnerReference: Hold.properties.partnerReference,
  state: oneOf(
    ['waiting', 'offered', 'confirmed', 'expired', 'left'],
    'waiting: no offer yet. offered: seats are held until dateExpires. confirmed: the offer was accepted. ' +
      'expired: the offer was not accepted in time, its seats were cancelled, or the list was closed. ' +
      'left: you left the list or ' +
      'declined the offer.',
    'waiting',
  ),
  position: nullable(
    'Place in the list of those who wait for this ticket, from 1. 1001: further back than place 1,000. ' +
      'null: the entry does not wait.',
    12,
    Type.Integer(),
  ),
  skipped: Whole(
    'How many later entries got an offer first, at most 1,000: because the free seats were too few for ' +
      'this entry, or because you ' +
      'held your share of the ticket.',
    0,
  ),
  dateJoined: Timestamp('Time at which the entry joined.'),
  dateExpires: nullableTimestamp('Time at which the offer expires. null: there is no open offer.', null),
});
export type WaitingEntry = Static<typeof WaitingEntry>;
