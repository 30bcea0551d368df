import { Type, type Static } from '@sinclair/typebox';
import { Timestamp } from './timestamp.ts';

const STATES = ['reserved', 'confirmed', 'cancelled', 'failed'] as const;

const nullableTimestamp = (description: string) => Type.Union([Timestamp(description), Type.Null()]);

/** What a partner learns about one of its registrations. Holds nothing about the attendee. */
export const RegistrationStatus = Type.Object(
  {
    passReference: Type.String({ examples: ['GALA-1042-317-4829137450'] }),
    state: Type.Unsafe<(typeof STATES)[number]>({
      type: 'string',
      enum: STATES,
      examples: ['confirmed'],
      description:
        'reserved: the seat is held and finalization is under way. confirmed: finalized. ' +
        'failed: finalization gave up; the seat stays held. cancelled: the seat was released.',
    }),
    organizedEventID: Type.Integer({ examples: [1042] }),
    organizedEventTicketID: Type.Integer({ examples: [1] }),
    ticketTitle: Type.String({ examples: ['Dinner'] }),
    dateReserved: Timestamp('When the seat was reserved.'),
    dateFinalized: nullableTimestamp('When finalization confirmed the registration or gave up.'),
    dateCancelled: nullableTimestamp('When the registration was cancelled.'),
  },
  { additionalProperties: false },
);

export type RegistrationStatus = Static<typeof RegistrationStatus>;
