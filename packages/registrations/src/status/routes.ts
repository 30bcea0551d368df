import { Type } from '@sinclair/typebox';
import {
  Attendee,
  answering,
  COMMON_FAILURES,
  formatPassReference,
  parsePassReference,
  PassReference,
  RegistrationStatus,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { Principal, Routes } from '@floodgate/http';
import {
  WHY_KEPT,
  whyNotReplaced,
  type ChangeGroups,
  type ReplacementGroups,
} from '../change/change-registrations.ts';
import { CODES, digestFor } from '../register/reserve-batch.ts';
import { duplicateMessage, provokedCode } from '../register/route.ts';
import { statusOf, type FindRegistration, type RegistrationRow } from './find-registrations.ts';

const PARAMS = Type.Pick(RegistrationStatus, ['passReference']);

/** The groups that commit the changes of partners. */
type Changes = Record<keyof typeof ROUTES, ChangeGroups>;

const REFUSALS = { ...CODES, 'too-late': '35', admitted: '35', replaced: '35', missing: '34' } as const;
type Undone = keyof typeof REFUSALS;

/** Returns the code of a change that was not made, and the message of this outcome. Null: what should change is missing. */
export function refusalOf(
  outcome: Undone | null,
  messages: { [Name in Undone]?: string | undefined },
): [FailureCode, { message?: string }] {
  const kind = outcome ?? 'missing';
  const message = messages[kind];
  return [REFUSALS[kind], message === undefined ? {} : { message }];
}

// The order of the API reference: its reader can try one after the other.
const ROUTES = {
  confirm: {
    operationId: 'confirmRegistration',
    summary: 'Confirm Registration',
    description:
      'Confirms a held registration (Hold-For), so that it no longer expires. Safe to repeat: a confirmed registration is ' +
      'answered "00" again. After the hold has expired, the answer is 35.',
  },
  cancel: {
    operationId: 'cancelRegistration',
    summary: 'Cancel Registration',
    description:
      'Cancels a registration that the same partner made under this event. Its seat can be sold again at once. ' +
      'Safe to repeat: a cancelled registration is answered "00" again. After its seat was admitted at the door, or after its attendee ' +
      'was changed, the answer is 35.',
  },
};

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
        params: PARAMS,
      },
    },
    async ({ principal, params: { passReference } }, reply) => {
      const parts = parsePassReference(passReference);
      const row = parts && (await findRegistration({ ...principal, serial: parts.serial }));
      const status = row && statusOf(row);
      // The row is found by its serial. The whole reference must match, so that a guessed serial is not enough.
      return status?.passReference === passReference ? success(status) : reply.fail('34');
    },
  );
}

/**
 * POST /events/registrations/{passReference}/cancel: cancels a registration and releases its seat.
 * POST /events/registrations/{passReference}/confirm: confirms a held registration.
 */
export function addChangeRoutes(api: Routes, changes: Changes, findRegistration: FindRegistration) {
  for (const name of ['confirm', 'cancel'] as const)
    api.post(
      `/events/registrations/:passReference/${name}`,
      {
        schema: {
          ...ROUTES[name],
          ...answering('Registrations', PassReference, [...COMMON_FAILURES, '34', '35', '91']),
          params: PARAMS,
        },
      },
      async (request, reply) => {
        const { passReference } = request.params;
        const named = nameOf(request.principal, passReference);
        if (!named) return reply.fail('34');
        const outcome = await changes[name].submit(request, named);
        if (outcome === 'cancelled' || outcome === 'confirmed') return success(passReference);
        // If this read fails, the refusal has the default message.
        const row = outcome === 'too-late' && (await findRegistration(named).catch(() => undefined));
        const why = { ...WHY_KEPT, 'too-late': row ? whyTooLate(name, row) : undefined };
        const refusal = refusalOf(outcome, why);
        return changes[name].refuse(request, reply, ...refusal);
      },
    );
}

/** Returns the registration that a partner names; null if the event has no such pass references. */
function nameOf(principal: Principal, passReference: string) {
  const parts = parsePassReference(passReference);
  const { eventId, passPrefix, cancelUntil: deadline } = principal;
  if (parts?.eventId !== eventId || parts.prefix !== passPrefix) return null;
  return { ...principal, serial: parts.serial, passCode: parts.passCode, deadline };
}

/** POST /events/registrations/{passReference}/attendee: gives the seat of a registration to another attendee. */
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
          'Gives the seat of a registration to another attendee, until the deadline for cancellations. The answer is a new pass ' +
          'reference: the old registration is cancelled and its pass revoked, and the new attendee gets a pass and an e-mail. The seat ' +
          'stays taken meanwhile. After the seat was admitted at the door, the answer is 35. `tableOrSeat` stays as it is unless you send it. Safe to repeat: the same name and address get ' +
          'the same answer.',
        params: PARAMS,
        body: Attendee,
      },
    },
    async (request, reply) => {
      const { principal, body: attendee } = request;
      const provoked = provokedCode(principal, attendee, failures);
      if (provoked && provoked !== '91') return groups.refuse(request, reply, provoked);
      const named = nameOf(principal, request.params.passReference);
      const row = named && (await findRegistration(named));
      if (!named || !row) return reply.fail('34');
      const attendeeDigest = digestFor(principal, row.ticketId, attendee);
      const done = await groups.submit(request, { ...named, attendee, attendeeDigest });
      const { eventId, passPrefix: prefix } = principal;
      if (typeof done === 'string' || done === null) {
        const tooLate = whyNotReplaced(row.state);
        const why = { ...WHY_KEPT, duplicate: duplicateMessage(principal), 'too-late': tooLate };
        return groups.refuse(request, reply, ...refusalOf(done, why));
      }
      if (provoked === '91' && row.state !== 'cancelled') return groups.refuse(request, reply, '91');
      const { serial, passCode } = done;
      return success(formatPassReference({ prefix, eventId, serial, passCode }));
    },
  );
}

function whyTooLate(change: keyof typeof ROUTES, { state, isExpired }: RegistrationRow) {
  if (change === 'cancel') return `The registration is ${state}, and the cancellation deadline has passed`;
  if (isExpired) return 'The hold has expired, and the registration is cancelled';
  if (state === 'held') return 'The registration has no attendee yet; call Confirm Hold';
  return `The registration is ${state}`;
}
