import { Type } from '@sinclair/typebox';
import {
  answersOf,
  COMMON_FAILURES,
  parsePassReference,
  RegistrationStatus,
  success,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { statusOf, type FindRegistration } from './find-registrations.ts';

/** GET /events/registrations/{passReference}: the state of one of the caller's registrations. */
export function addStatusRoute(api: Routes, findRegistration: FindRegistration): void {
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
      // Found by its serial, then compared in full: a guessed serial is not enough.
      return status?.passReference === passReference ? success(status) : reply.fail('34');
    },
  );
}
