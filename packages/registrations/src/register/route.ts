import type { Static } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  PassReference,
  RegisterHeaders,
  RegistrationRequest,
  ReplayedHeader,
  trimFullName,
  type FailureCode,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { answerTo } from './answer-to.ts';
import type { SeatOutcome } from './outcome.ts';
import { refuseEarly } from './refuse-early.ts';
import type { CallOptions, Registrar } from './registrar.ts';

/** Returns what the headers of a call say of its registrations. */
export function optionsIn(headers: Static<typeof RegisterHeaders>): CallOptions {
  const holdFor = headers['hold-for'];
  return {
    key: headers['idempotency-key'],
    holdSeconds: holdFor === undefined ? undefined : Number(holdFor),
  };
}

/** Every failure that it may answer. */
export const REGISTER_FAILURES = [
  ...COMMON_FAILURES,
  '11',
  '30',
  '31',
  '32',
  '33',
  '37',
  '40',
  '41',
  '91',
] as const satisfies FailureCode[];

/** POST /events/register: reserves a seat and answers with its pass reference at once. */
export function addRegisterRoute(
  api: Routes,
  registrar: Pick<Registrar, 'register' | 'admit' | 'retryAfterSeconds'>,
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
      onRequest: refuseEarly(registrar),
      preValidation: (request, _reply, done) => {
        trimFullName(request.body);
        done();
      },
    },
    async (request, reply) => {
      const { principal, body, headers } = request;
      const outcome = await registrar.register(principal, body, optionsIn(headers));
      if ('replayed' in outcome && outcome.replayed) void reply.header('idempotent-replayed', 'true');
      const answer = answerTo(principal, outcome as SeatOutcome);
      if (answer.responseCode === '00') return answer;
      if (outcome.kind === 'failed') throw new Error('a registration failed');
      return reply.fail(answer.responseCode, {
        message: answer.responseMessage,
        retryAfterSeconds: registrar.retryAfterSeconds(principal),
      });
    },
  );
}
