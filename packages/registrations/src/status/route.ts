import { Type } from '@sinclair/typebox';
import {
  CallerHeaders,
  COMMON_FAILURES,
  FailureEnvelope,
  formatPassReference,
  formatTimestamp,
  parsePassReference,
  RegistrationStatus,
  success,
  SuccessEnvelope,
} from '@floodgate/contract';
import { findRegistrations, type RegistrationQuery, type RegistrationRow } from './find-registrations.ts';
import { type Database, GroupRead } from '@floodgate/database';
import type { GrantedAccess } from '@floodgate/partners';
import { refuse, type Routes } from '@floodgate/http';

/** GET /events/registrations/{passReference}: how far one of the caller's own registrations is. */
export function registrationStatusRoute(app: Routes, db: Database): void {
  const registrations: Registrations = new GroupRead((queries) => findRegistrations(db, queries));
  app.get(
    '/events/registrations/:passReference',
    {
      schema: {
        operationId: 'getRegistration',
        tags: ['Events'],
        summary: 'Get Registration',
        description: 'Tells the state of a registration that the same partner made under this event.',
        requestHeaders: CallerHeaders,
        failures: [...COMMON_FAILURES, '34'],
        params: Type.Pick(RegistrationStatus, ['passReference']),
        response: {
          200: SuccessEnvelope(RegistrationStatus),
          '4xx': FailureEnvelope,
          '5xx': FailureEnvelope,
        },
      },
    },
    async (request, reply) => {
      const status = await readStatus(registrations, request.access, request.params.passReference);
      return status ? success(status) : refuse(reply, '34');
    },
  );
}

type Registrations = GroupRead<RegistrationQuery, RegistrationRow | undefined>;

async function readStatus(
  registrations: Registrations,
  { partnerId, eventId }: GrantedAccess,
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
