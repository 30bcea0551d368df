import { Type } from '@sinclair/typebox';
import {
  answersOf,
  COMMON_FAILURES,
  formatTimestamp,
  parsePassReference,
  RegistrationStatus,
  success,
} from '@floodgate/contract';
import { shardLoader, type Database, type ShardReads } from '@floodgate/database';
import type { Routes } from '@floodgate/http';
import {
  findRegistrations,
  passReferenceOf,
  type RegistrationQuery,
  type RegistrationRow,
} from './find-registrations.ts';

/** GET /events/registrations/{passReference}: how far one of the caller's own registrations is. */
export function addStatusRoute(api: Routes, reads: Database, shardReads: ShardReads): void {
  const findRegistration = shardLoader(shardReads, (queries: RegistrationQuery[]) =>
    findRegistrations(reads, queries),
  );
  api.get(
    '/events/registrations/:passReference',
    {
      schema: {
        operationId: 'getRegistration',
        tags: ['Registrations'],
        summary: 'Get Registration',
        description: 'Returns the state of a registration that the same partner made under this event.',
        failures: [...COMMON_FAILURES, '34'],
        params: Type.Pick(RegistrationStatus, ['passReference']),
        response: answersOf(RegistrationStatus),
      },
    },
    async ({ principal, params: { passReference } }, reply) => {
      const { shardId, partnerId, eventId } = principal;
      const parts = parsePassReference(passReference);
      const row = parts && (await findRegistration({ shardId, serial: parts.serial, partnerId, eventId }));
      const status = row && statusOf(row);
      // Found by its serial, then compared whole: a guessed serial alone opens nothing.
      return status?.passReference === passReference ? success(status) : reply.fail('34');
    },
  );
}

/** Returns what a partner is told of a registration. */
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
