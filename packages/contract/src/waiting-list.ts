import { Type, type Static } from '@sinclair/typebox';
import { ticketOfEvent } from './answers.ts';
import { closed, nullable, nullableTimestamp, oneOf, open, Text, Timestamp, Uuid, Whole } from './fields.ts';
import { Attendee, Hold } from './holds.ts';
import { PartnerReference, RegistrationRequest } from './registration-request.ts';

/** Maximum number of seats of an entry. */
export const WAITING_SEAT_LIMIT = 10;

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
    'The reference of the entry. While the state is offered, it is also the reference of the hold: Confirm Hold accepts the offer.',
    WaitingPath.properties.entry.examples![0] as string,
  ),
  organizedEventTicketID: ticketOfEvent.organizedEventTicketID,
  seats: Whole('Number of seats.', 2),
  partnerReference: Hold.properties.partnerReference,
  state: oneOf(
    ['waiting', 'offered', 'confirmed', 'expired', 'left'],
    'waiting: no offer yet. offered: seats are held until dateExpires. confirmed: the offer was accepted. ' +
      'expired: the offer was not accepted in time, or the list was closed. left: you left the list or declined the offer.',
    'waiting',
  ),
  position: nullable(
    'Place in the list of those who wait for this ticket, from 1. null: the entry does not wait.',
    12,
    Type.Integer(),
  ),
  skipped: Whole(
    'How many later entries got an offer first, because they need fewer seats and these seats were too few.',
    0,
  ),
  dateJoined: Timestamp('Time at which the entry joined.'),
  dateExpires: nullableTimestamp('Time at which the offer expires. null: there is no open offer.', null),
});
export type WaitingEntry = Static<typeof WaitingEntry>;
