import { Type } from '@sinclair/typebox';
import {
  COMMON_FAILURES,
  FailureEnvelope,
  isIdempotencyKey,
  RegisterHeaders,
  RegistrationRequest,
  ReplayedHeader,
  success,
  SuccessEnvelope,
  trimFullName,
  type FailureCode,
} from '@floodgate/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { IDEMPOTENCY_KEY_RULE, refuse, type Routes } from '@floodgate/http';
import type { RegistrationOutcome, Registrar } from './registrar.ts';

const PassReference = Type.String({
  description: 'Pass reference of the attendee. Treat it as opaque.',
  examples: ['GALA-1042-317-4829137450'],
});

/** POST /events/register: reserves a seat and answers with its pass reference at once. */
export function registerRoute(app: Routes, registrar: Pick<Registrar, 'register' | 'hasRoom'>): void {
  app.post(
    '/events/register',
    {
      schema: {
        operationId: 'registerForEvent',
        tags: ['Events'],
        summary: 'Register For Event',
        description:
          'Registers an attendee. On "00" the seat and the pass reference are safely stored; finalization follows by itself.',
        requestHeaders: RegisterHeaders,
        answerHeaders: ReplayedHeader,
        failures: [...COMMON_FAILURES, '11', '30', '31', '32', '33', '40', '41', '91'],
        body: RegistrationRequest,
        response: { 200: SuccessEnvelope(PassReference), '4xx': FailureEnvelope, '5xx': FailureEnvelope },
      },
      // Before a byte of the body is read: saying no is paid for by those who are served.
      onRequest: (_request, reply, done) => {
        if (registrar.hasRoom()) done();
        else reply.send(refuse(reply, '90'));
      },
      preValidation: (request, _reply, done) => {
        trimFullName(request.body);
        done();
      },
      preHandler: refuseInvalidKey,
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key'] as string | undefined;
      return answer(request, reply, await registrar.register(request.access, request.body, key));
    },
  );
}

function refuseInvalidKey(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const key = request.headers['idempotency-key'];
  if (key === undefined || isIdempotencyKey(key)) done();
  else reply.send(refuse(reply, '11', { message: IDEMPOTENCY_KEY_RULE }));
}

const REFUSAL_CODES = {
  'no-such-ticket': '30',
  'not-on-sale': '31',
  'sold-out': '32',
  duplicate: '33',
  'key-reused': '40',
  'in-progress': '41',
  overloaded: '90',
  unknown: '91',
  failed: '99',
} as const satisfies Record<Exclude<RegistrationOutcome['kind'], 'registered'>, FailureCode>;

function answer(request: FastifyRequest, reply: FastifyReply, outcome: RegistrationOutcome) {
  if (outcome.kind === 'failed')
    request.log.error({ requestId: request.id }, 'a registration failed unexpectedly');
  if ('replayed' in outcome && outcome.replayed) void reply.header('idempotent-replayed', 'true');
  if (outcome.kind === 'registered') return success(outcome.passReference);
  return refuse(reply, REFUSAL_CODES[outcome.kind]);
}
