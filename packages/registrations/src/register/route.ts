import { answering, PassReference, RegisterHeaders, RegistrationRequest, success } from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { hasSeat, isNew, passReferenceIn, provokedCode, refusalOf, REGISTER_FAILURES } from '../answers.ts';
import type { Registrations } from './commit-batch.ts';
import { toReservation } from './reservation.ts';

/** POST /events/register: reserves a seat and answers with its pass reference immediately. */
export function addRegisterRoute(
  api: Routes,
  groups: Pick<Registrations, 'submit' | 'refuse' | 'refuseWhenFull'>,
) {
  api.post(
    '/events/register',
    {
      schema: {
        operationId: 'registerForEvent',
        ...answering('Registrations', PassReference, REGISTER_FAILURES),
        summary: 'Register For Event',
        description:
          'Registers an attendee. On "00" the seat and the pass reference are safely stored; finalization follows ' +
          'automatically.',
        headers: RegisterHeaders,
        answerHeader: 'Idempotent-Replayed',
        body: RegistrationRequest,
      },
      onRequest: groups.refuseWhenFull,
    },
    async (request, reply) => {
      const { principal, body, headers } = request;
      const provoked = provokedCode(principal, body, REGISTER_FAILURES);
      if (provoked && provoked !== '91') return groups.refuse(request, reply, provoked);
      const reservation = toReservation(principal, body, headers);
      const outcome = await groups.submit(request, reservation);
      request.batchId = reservation.batchId;
      if (outcome.kind === 'failed' || outcome.kind === 'bulk') throw new Error('a registration failed');
      if (provoked === '91' && isNew(outcome)) return groups.refuse(request, reply, '91');
      if ('replayed' in outcome && outcome.replayed) void reply.header('idempotent-replayed', 'true');
      if (hasSeat(outcome)) return success(passReferenceIn(principal, outcome));
      return groups.refuse(request, reply, ...refusalOf(principal, outcome.kind, outcome));
    },
  );
}
