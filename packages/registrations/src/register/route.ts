import type { Static } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  PassReference,
  RegisterHeaders,
  RegistrationRequest,
  ReplayedHeader,
  trimFullName,
  type FailureCode,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { provokedCode } from '../test-mode/provoked-code.ts';
import { isNew, type SeatOutcome } from './outcome.ts';
import type { Registrations } from './register-attendees.ts';
import { REGISTER_FAILURES, responseOf } from './response.ts';
import type { CallOptions } from './submission.ts';

/** Returns what the headers of a call say of its registrations. */
export function optionsIn(headers: Static<typeof RegisterHeaders>): CallOptions {
  const holdFor = headers['hold-for'];
  return {
    key: headers['idempotency-key'],
    holdSeconds: holdFor === undefined ? undefined : Number(holdFor),
  };
}

/** POST /events/register: reserves a seat and answers with its pass reference at once. */
export function addRegisterRoute(
  api: Routes,
  registrations: Pick<Registrations, 'register' | 'refuseWhenFull' | 'retryAfterSeconds'>,
): void {
  api.post(
    '/events/register',
    {
      schema: {
        operationId: 'registerForEvent',
        tags: ['Registrations'],
        summary: 'Register For Event',
        description:
          'Registers an attendee. On "00" the seat and the pass reference are safely stored; finalization follows automatically.',
        headers: RegisterHeaders,
        answerHeaders: ReplayedHeader,
        failures: REGISTER_FAILURES,
        body: RegistrationRequest,
        response: answersOf(PassReference),
      },
      bodyLimit: BODY_LIMIT_BYTES,
      onRequest: registrations.refuseWhenFull,
      preValidation: (request, _reply, done) => {
        trimFullName(request.body);
        done();
      },
    },
    async (request, reply) => {
      const { principal, body, headers } = request;
      const refuse = (code: FailureCode, message?: string) =>
        reply.fail(code, {
          ...(message && { message }),
          retryAfterSeconds: registrations.retryAfterSeconds(principal),
        });
      const provoked = provokedCode(principal, body, REGISTER_FAILURES);
      if (provoked !== undefined && provoked !== '91') return refuse(provoked);
      const outcome = await registrations.register(principal, body, optionsIn(headers));
      if (outcome.kind === 'failed') throw new Error('a registration failed');
      if (provoked === '91' && isNew(outcome)) return refuse('91');
      if ('replayed' in outcome && outcome.replayed) void reply.header('idempotent-replayed', 'true');
      const answer = responseOf(principal, outcome as SeatOutcome);
      return answer.responseCode === '00' ? answer : refuse(answer.responseCode, answer.responseMessage);
    },
  );
}
