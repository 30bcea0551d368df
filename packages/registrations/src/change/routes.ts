import { Type } from '@sinclair/typebox';
import {
  answering,
  Attendee,
  Cancellation,
  Cancelled,
  COMMON_FAILURES,
  HOLD_LIMIT,
  parsePassReference,
  PassReference,
  RegistrationStatus,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { Call, Principal, Routes } from '@floodgate/http';
import type { FailingReply } from '../admission/admission-queue.ts';
import {
  passReferenceIn,
  provokedCode,
  refusalOf,
  whyNotCancelled,
  whyNotConfirmed,
  whyNotReplaced,
} from '../answers.ts';
import { digestFor } from '../register/reservation.ts';
import type { FindRegistration, RegistrationQuery, RegistrationRow } from '../status/find-registrations.ts';
import type { CallFailure } from './change-groups.ts';
import type { ChangeGroups, TogetherGroups } from './change-registrations.ts';
import type { ReplacementGroups, ReplacementRefusal } from './replace-attendee.ts';

const PARAMS = Type.Pick(RegistrationStatus, ['passReference']);
const CHANGE_SCHEMA = {
  ...answering('Registrations', PassReference, [...COMMON_FAILURES, '34', '35', '91']),
  params: PARAMS,
};

/** POST /events/registrations/{passReference}/confirm: confirms a held registration. */
export function addConfirmRegistrationRoute(api: Routes, groups: ChangeGroups, find: FindRegistration) {
  api.post(
    '/events/registrations/:passReference/confirm',
    {
      schema: {
        ...CHANGE_SCHEMA,
        operationId: 'confirmRegistration',
        summary: 'Confirm Registration',
        description:
          'Confirms a held registration (Hold-For), so that it no longer expires. Safe to repeat: a ' +
          'confirmed registration is answered "00" again. After the hold has expired, the answer is 35.',
      },
    },
    async (request, reply) => answerChange(request, reply, groups, find, whyNotConfirmed),
  );
}

/** POST /events/registrations/{passReference}/cancel: cancels a registration and releases its seat. */
export function addCancelRoute(api: Routes, groups: ChangeGroups, find: FindRegistration) {
  api.post(
    '/events/registrations/:passReference/cancel',
    {
      schema: {
        ...CHANGE_SCHEMA,
        operationId: 'cancelRegistration',
        summary: 'Cancel Registration',
        description:
          'Cancels a registration that the same partner made under this event. Its seat can be sold again at ' +
          'once. Safe to repeat: a cancelled registration is answered "00" again. After its seat was ' +
          'admitted at the door, or after its attendee was changed, the answer is 35.',
      },
    },
    async (request, reply) => answerChange(request, reply, groups, find, whyNotCancelled),
  );
}

const EACH_ONCE = {
  message: 'passReferences: each pass reference once',
  invalidFields: [{ field: 'passReferences', rule: 'uniqueItems' }],
};

/** POST /events/registrations/cancel: cancels several registrations, all or none. */
export function addCancelAllRoute(api: Routes, groups: TogetherGroups, find: FindRegistration) {
  api.post(
    '/events/registrations/cancel',
    {
      schema: {
        ...answering('Registrations', Cancelled, [...COMMON_FAILURES, '11', '34', '35', '91']),
        operationId: 'cancelRegistrations',
        summary: 'Cancel Registrations',
        description:
          `Cancels 1 to ${HOLD_LIMIT} registrations that the same partner made under this event, all or none, ` +
          'as Cancel Registration does. If one cannot be cancelled, none is, and the message begins with its ' +
          'place in the request. Safe to repeat.',
        body: Cancellation,
      },
      preHandler: async ({ body, countAs }) => countAs(body.passReferences.length),
    },
    async (request, reply) => {
      const { principal, body } = request;
      const { passReferences } = body;
      if (new Set(passReferences).size < passReferences.length) return reply.fail('11', EACH_ONCE);
      const named = passReferences.map((passReference) => namedIn(principal, passReference));
      const field = (index: number) => `passReferences[${index}]`;
      const unknown = named.indexOf(null);
      if (unknown >= 0) return reply.fail(...refusalOf(principal, 'missing', { field: field(unknown) }));
      const registrations = named.filter((one) => one !== null);
      const outcomes = await groups.submit(request, registrations);
      if (typeof outcomes === 'string')
        return groups.refuse(request, reply, ...refusalOf(principal, outcomes));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome === 'cancelled' || outcome === 'confirmed') continue;
        const message =
          outcome === 'too-late'
            ? await describeRow(registrations[index]!, find, whyNotCancelled)
            : undefined;
        const refusal = refusalOf(principal, outcome ?? 'missing', { message, field: field(index) });
        return groups.refuse(request, reply, ...refusal);
      }
      return success({ passReferences });
    },
  );
}

/** A request that names a registration. */
interface ChangeCall extends Call {
  params: { passReference: string };
}

/** Changes a registration. Answers with its pass reference, or with why it was not changed. */
async function answerChange<Answer>(
  call: ChangeCall,
  reply: FailingReply<Answer>,
  groups: ChangeGroups,
  find: FindRegistration,
  describe: (row: RegistrationRow) => string,
) {
  const { passReference } = call.params;
  const registration = namedIn(call.principal, passReference);
  if (!registration) return reply.fail('34');
  const outcome = await groups.submit(call, registration);
  if (outcome === 'cancelled' || outcome === 'confirmed') return success(passReference);
  const message = outcome === 'too-late' ? await describeRow(registration, find, describe) : undefined;
  return groups.refuse(call, reply, ...refusalOf(call.principal, outcome ?? 'missing', { message }));
}

/** Describes why a registration cannot be changed. If it cannot be read, the refusal has the usual message. */
async function describeRow(
  registration: RegistrationQuery,
  find: FindRegistration,
  describe: (row: RegistrationRow) => string,
) {
  const row = await find(registration).catch(() => undefined);
  return row && describe(row);
}

/** Returns the registration that a partner names; null if the event has no such pass references. */
function namedIn(principal: Principal, passReference: string) {
  const parts = parsePassReference(passReference);
  const { shardId, partnerId, eventId, passPrefix, cancelUntil: deadline } = principal;
  if (parts?.eventId !== eventId || parts.prefix !== passPrefix) return null;
  return { shardId, partnerId, eventId, serial: parts.serial, passCode: parts.passCode, deadline };
}

/**
 * POST /events/registrations/{passReference}/attendee: gives the seat of a registration to another attendee.
 */
export function addAttendeeRoute(api: Routes, groups: ReplacementGroups, findRegistration: FindRegistration) {
  const failures: FailureCode[] = [...COMMON_FAILURES, '11', '33', '34', '35', '91'];
  api.post(
    '/events/registrations/:passReference/attendee',
    {
      schema: {
        operationId: 'changeAttendee',
        ...answering('Registrations', PassReference, failures),
        summary: 'Change Attendee',
        description:
          'Gives the seat of a registration to another attendee, until the deadline for cancellations. The ' +
          'answer is a new pass reference: the old registration is cancelled and its pass revoked, and the ' +
          'new attendee gets a pass and an e-mail. The seat stays taken meanwhile. After the seat was ' +
          'admitted at the door, the answer is 35. `tableOrSeat` stays as it is unless you send it. Safe to ' +
          'repeat: the same name and address get the same answer.',
        params: PARAMS,
        body: Attendee,
      },
    },
    async (request, reply) => {
      const { principal, body: attendee } = request;
      const provoked = provokedCode(principal, attendee, failures);
      if (provoked && provoked !== '91') return groups.refuse(request, reply, provoked);
      const registration = namedIn(principal, request.params.passReference);
      const row = registration && (await findRegistration(registration));
      if (!registration || !row) return reply.fail('34');
      const attendeeDigest = digestFor(principal, row.ticketId, attendee);
      const outcome = await groups.submit(request, { ...registration, attendee, attendeeDigest });
      if (typeof outcome === 'string' || outcome === null)
        return groups.refuse(request, reply, ...refusalOfReplacement(principal, outcome, row));
      if (provoked === '91' && row.state !== 'cancelled') return groups.refuse(request, reply, '91');
      return success(passReferenceIn(principal, outcome));
    },
  );
}

/** Returns why the attendee of a registration was not replaced. */
const refusalOfReplacement = (
  principal: Principal,
  reason: ReplacementRefusal | CallFailure,
  { state }: RegistrationRow,
) =>
  refusalOf(principal, reason ?? 'missing', {
    message: reason === 'too-late' ? whyNotReplaced(state) : undefined,
  });
