import { formatTimestamp, type RegistrationStatus } from '@floodgate/contract';
import { passReferenceOf, type RegistrationRow } from './find-registrations.ts';

/** Returns the status that partners see. */
export function statusOf(row: RegistrationRow): RegistrationStatus {
  return {
    passReference: passReferenceOf(row),
    state: row.state,
    organizedEventID: row.eventId,
    organizedEventTicketID: row.ticketId,
    ticketTitle: row.ticketTitle,
    dateReserved: formatTimestamp(row.reservedAt),
    dateFinalized: row.finishedAt && formatTimestamp(row.finishedAt),
    dateCancelled: row.cancelledAt && formatTimestamp(row.cancelledAt),
  };
}
