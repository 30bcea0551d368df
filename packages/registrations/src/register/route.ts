import {
  answering,
  COMMON_FAILURES,
  failure,
  formatPassReference,
  PassReference,
  RegisterHeaders,
  RegistrationRequest,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { Principal, Routes } from '@floodgate/http';
import type { Registrations } from './commit-batch.ts';
import { CODES, isNew, toReservation, type SeatOutcome } from './reserve-batch.ts';

/** Every failure code that Register For Event can return. */
export const REGISTER_FAILURES = [
  ...new Set<FailureCode>([...COMMON_FAILURES, '11', ...Object.values(CODES)]),
].filter((code) => code !== '36');

const OF_PARTNER = 'You have sold all seats that you may sell of this ticket';

/** Returns the message about a duplicate. Undefined: the message of code 33. */
export const duplicateMessage = ({ duplicateScope }: Principal) =>
  duplicateScope === 'ticket' ? 'This e-mail address is already registered for the ticket' : undefined;

/** Returns the message about a partner that would hold too many seats. Undefined: the message of code 37. */
const holdLimitMessage = (limit?: number) =>
  limit === undefined ? undefined : `You can hold at most ${limit} seats of this ticket at a time`;

/** Returns the envelope that answers a registration. */
export function responseOf(principal: Principal, outcome: SeatOutcome) {
  const { passPrefix: prefix, eventId } = principal;
  if (outcome.kind === 'duplicate') return failure('33', duplicateMessage(principal));
  if (outcome.kind === 'allocation-sold') return failure('32', OF_PARTNER);
  if (outcome.kind === 'hold-limit') return failure('37', holdLimitMessage(outcome.limit));
  if (outcome.kind !== 'registered' && outcome.kind !== 'existing') return failure(CODES[outcome.kind]);
  const { serial, passCode } = outcome;
  return success(formatPassReference({ prefix, eventId, serial, passCode }));
}

/** `code-32@floodgate.invalid`. A tag makes further addresses. RFC 2606 reserves the domain, so no attendee has such an address. */
const PROVOKING_ADDRESS = /^code-(\d\d)(?:\+[^@]*)?@floodgate\.invalid$/i;

/**
 * Returns the code that the e-mail address of a test event's attendee requests, if it is one of `codes`. Such a request reserves
 * nothing. Only 91 reserves a seat and loses the first answer, as can happen after a real commit.
 */
export function provokedCode(
  { mode }: Principal,
  { emailAddress }: Pick<RegistrationRequest, 'emailAddress'>,
  codes: readonly FailureCode[],
) {
  if (mode !== 'test') return undefined;
  const asked = PROVOKING_ADDRESS.exec(emailAddress)?.[1];
  return codes.find((code) => code === asked);
}

/** POST /events/register: reserves a seat and answers with its pass reference at once. */
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
          'Registers an attendee. On "00" the seat and the pass reference are safely stored; finalization follows automatically.',
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
      if (outcome.kind === 'failed') throw new Error('a registration failed');
      if (provoked === '91' && isNew(outcome)) return groups.refuse(request, reply, '91');
      if ('replayed' in outcome && outcome.replayed) void reply.header('idempotent-replayed', 'true');
      const answer = responseOf(principal, outcome as SeatOutcome);
      if (answer.responseCode === '00') return answer;
      const { responseCode, responseMessage: message } = answer;
      return groups.refuse(request, reply, responseCode, { message });
    },
  );
}
