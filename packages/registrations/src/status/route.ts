import { Type } from '@sinclair/typebox';
import { answersOf, COMMON_FAILURES, RegistrationStatus, success } from '@floodgate/contract';
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
        failures: [...COMMON_FAILURES, '34'],
        params: Type.Pick(RegistrationStatus, ['passReference']),
        response: answersOf(RegistrationStatus),
      },
    },
    async (request, reply) => {
      const status = await readStatus(registrations, request.principal, request.params.passReference);
      return status ? success(status) : reply.fail('34');
    },
  );
}
