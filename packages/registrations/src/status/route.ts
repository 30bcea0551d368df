import { Type } from '@sinclair/typebox';
import {
  CallerHeaders,
  COMMON_FAILURES,
  FailureEnvelope,
  RegistrationStatus,
  success,
  SuccessEnvelope,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { readStatus, type RegistrationLoader } from './read-status.ts';

/** GET /events/registrations/{passReference}: how far one of the caller's own registrations is. */
export function addStatusRoute(api: Routes, registrations: RegistrationLoader): void {
  api.get(
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
      const status = await readStatus(registrations, request.principal, request.params.passReference);
      return status ? success(status) : reply.fail('34');
    },
  );
}
