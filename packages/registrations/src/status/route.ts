import { Type } from '@sinclair/typebox';
import {
  answering,
  COMMON_FAILURES,
  parsePassReference,
  RegistrationStatus,
  success,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { statusOf, type FindRegistration } from './find-registrations.ts';

/** GET /events/registrations/{passReference}: the state of one of the caller's registrations. */
export function addStatusRoute(api: Routes, findRegistration: FindRegistration) {
  api.get(
    '/events/registrations/:passReference',
    {
      schema: {
        operationId: 'getRegistration',
        ...answering('Registrations', RegistrationStatus, [...COMMON_FAILURES, '34']),
        summary: 'Get Registration',
        description: 'Returns the state of a registration that the same partner made under this event.',
        params: Type.Pick(RegistrationStatus, ['passReference']),
      },
    },
    async ({ principal, params: { passReference } }, reply) => {
      const parts = parsePassReference(passReference);
      const row = parts && (await findRegistration({ ...principal, serial: parts.serial }));
      const status = row && statusOf(row);
      // The row is found by its serial. The whole reference must match, so that a guessed serial is not
      // enough.
      return status?.passReference === passReference ? success(status) : reply.fail('34');
    },
  );
}
