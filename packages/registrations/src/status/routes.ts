import { Type } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  parsePassReference,
  PassReference,
  RegistrationStatus,
  success,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import type { ChangeGroups } from '../change/change-registrations.ts';
import { CODES } from '../register/route.ts';
import { statusOf, type FindRegistration, type RegistrationRow } from './find-registrations.ts';

const PARAMS = Type.Pick(RegistrationStatus, ['passReference']);

/** The groups that commit the changes of partners. */
type Changes = Record<keyof typeof ROUTES, ChangeGroups>;

export const REFUSALS = { ...CODES, 'too-late': '35' } as const;

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
      'Safe to repeat: a cancelled registration is answered "00" again.',
  },
};

/** GET /events/registrations/{passReference}: the state of one of the caller's registrations. */
export function addStatusRoute(api: Routes, findRegistration: FindRegistration) {
  api.get(
    '/events/registrations/:passReference',
    {
      schema: {
        operationId: 'getRegistration',
        tags: ['Registrations'],
        summary: 'Get Registration',
        description: 'Returns the state of a registration that the same partner made under this event.',
        failures: [...COMMON_FAILURES, '34'],
        params: PARAMS,
        response: answersOf(RegistrationStatus),
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
          tags: ['Registrations'],
          failures: [...COMMON_FAILURES, '34', '35', '91'],
          params: PARAMS,
          response: answersOf(PassReference),
        },
        bodyLimit: BODY_LIMIT_BYTES,
      },
      async (request, reply) => {
        const { principal, params } = request;
        const { passReference } = params;
        const { eventId, passPrefix, cancelUntil: deadline } = principal;
        const parts = parsePassReference(passReference);
        if (parts?.eventId !== eventId || parts.prefix !== passPrefix) return reply.fail('34');
        const { serial, passCode } = parts;
        const outcome = await changes[name].submit(request, { ...principal, serial, passCode, deadline });
        if (outcome === 'cancelled' || outcome === 'confirmed') return success(passReference);
        if (outcome === null) return reply.fail('34');
        const find = () => findRegistration({ ...principal, serial });
        // If this read fails, the refusal has the default message.
        const row = outcome === 'too-late' ? await find().catch(() => undefined) : undefined;
        const specifics = row && { message: whyTooLate(name, row) };
        return changes[name].refuse(request, reply, REFUSALS[outcome], specifics);
      },
    );
}

function whyTooLate(change: keyof typeof ROUTES, { state, isExpired }: RegistrationRow) {
  if (change === 'cancel') return `The registration is ${state}, and the cancellation deadline has passed`;
  if (isExpired) return 'The hold has expired, and the registration is cancelled';
  if (state === 'held') return 'The registration has no attendee yet; call Confirm Hold';
  return `The registration is ${state}`;
}
