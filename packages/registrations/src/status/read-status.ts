import {
  formatPassReference,
  formatTimestamp,
  parsePassReference,
  type RegistrationStatus,
} from '@floodgate/contract';
import type { BatchLoader } from '@floodgate/database';
import type { PartnerPrincipal } from '@floodgate/http';
import type { RegistrationQuery, RegistrationRow } from './find-registrations.ts';

export type RegistrationLoader = BatchLoader<RegistrationQuery, RegistrationRow | undefined>;

/** Resolves to the status of a registration that this partner made under this event; undefined where there is none. */
export async function readStatus(
  registrations: RegistrationLoader,
  { partnerId, eventId }: PartnerPrincipal,
  passReference: string,
): Promise<RegistrationStatus | undefined> {
  const parts = parsePassReference(passReference);
  if (!parts) return undefined;
  const row = await registrations.read({ serial: parts.serial, partnerId, eventId });
  // Found by its serial, then compared whole: a guessed serial alone opens nothing.
  return row && passReferenceOf(row) === passReference ? toStatus(row) : undefined;
}

function passReferenceOf({ passPrefix: prefix, eventId, serial, passCode }: RegistrationRow): string {
  return formatPassReference({ prefix, eventId, serial, passCode });
}

function toStatus(row: RegistrationRow): RegistrationStatus {
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
