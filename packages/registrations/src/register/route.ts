import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  PassReference,
  RegisterHeaders,
  RegistrationRequest,
  ReplayedHeader,
  trimFullName,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { answerTo } from './answer-to.ts';
import type { SeatOutcome } from './outcome.ts';
import type { Registrar } from './registrar.ts';

/** POST /events/register: reserves a seat and answers with its pass reference at once. */
export function addRegisterRoute(api: Routes, registrar: Pick<Registrar, 'register' | 'admit'>): void {
  api.post(
    '/events/register',
    {
      schema: {
        operationId: 'registerForEvent',
        tags: ['Registrations'],
        summary: 'Register For Event',
        description:
          'Registers an attendee. On "00" the seat and the pass reference are safely stored; finalization follows by itself.',
        headers: RegisterHeaders,
        answerHeaders: ReplayedHeader,
        failures: [...COMMON_FAILURES, '11', '30', '31', '32', '33', '40', '41', '91'],
        body: RegistrationRequest,
        response: answersOf(PassReference),
      },
      bodyLimit: BODY_LIMIT_BYTES,
      // Before the body is read: reading what is refused would slow down those who are served.
      onRequest: ({ principal }, reply, done) => {
        if (registrar.admit(principal)) done();
        else reply.fail('90');
      },
      preValidation: (request, _reply, done) => {
        trimFullName(request.body);
        done();
      },
    },
    async (request, reply) => {
      const { principal, body, headers } = request;
      const outcome = await registrar.register(principal, body, headers['idempotency-key']);
      if ('replayed' in outcome && outcome.replayed) void reply.header('idempotent-replayed', 'true');
      const answer = answerTo(principal, outcome as SeatOutcome);
      if (answer.responseCode === '00') return answer;
      if (answer.responseCode === '99')
        request.log.error({ requestId: request.id }, 'a registration failed unexpectedly');
      return reply.fail(answer.responseCode);
    },
  );
}
