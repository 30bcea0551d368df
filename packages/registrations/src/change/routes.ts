import { Type } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  parsePassReference,
  PassReference,
  RegistrationStatus,
  success,
  type FailureCode,
} from '@floodgate/contract';
import { withoutBody, type PartnerPrincipal, type Routes } from '@floodgate/http';
import type { ChangeGroups } from './change-groups.ts';
import type {
  Cancellation,
  CancelOutcome,
  ConfirmOutcome,
  NamedRegistration,
} from './change-registrations.ts';

/** What makes changes that partners ask for. */
export interface Changes {
  cancellations: Groups<Cancellation, CancelOutcome>;
  confirmations: Groups<NamedRegistration, ConfirmOutcome>;
}

type Groups<Change, Outcome> = Pick<ChangeGroups<Change, Outcome>, 'submit' | 'retryAfterSeconds'>;

export const REFUSALS = {
  'too-late': '35',
  overloaded: '90',
  unknown: '91',
  failed: '99',
} as const satisfies Record<string, FailureCode>;

/**
 * POST /events/registrations/{passReference}/cancel: gives a seat back.
 * POST /events/registrations/{passReference}/confirm: keeps one that is held for a while.
 */
export function addChangeRoutes(api: Routes, { cancellations, confirmations }: Changes): void {
  withoutBody(api, (routes) => {
    // What a reader tries in order can be done in order.
    addChangeRoute(routes, 'confirm', CONFIRM, confirmations, (_principal, named) => named);
    addChangeRoute(routes, 'cancel', CANCEL, cancellations, ({ cancelUntil: deadline }, named) => {
      return { ...named, deadline };
    });
  });
}

const CANCEL = {
  operationId: 'cancelRegistration',
  summary: 'Cancel Registration',
  description:
    'Cancels a registration that the same partner made under this event. Its seat can be sold again at once. ' +
    'Safe to repeat: what is cancelled already is answered "00" as well.',
};

const CONFIRM = {
  operationId: 'confirmRegistration',
  summary: 'Confirm Registration',
  description:
    'Keeps a registration whose seat is held for a while (Hold-For). Safe to repeat: what is kept already is answered "00" ' +
    'as well. Afterwards the seat is gone: 35.',
};

function addChangeRoute<Change>(
  api: Routes,
  name: string,
  description: typeof CANCEL,
  groups: Groups<Change, CancelOutcome | ConfirmOutcome>,
  changeOf: (principal: PartnerPrincipal, registration: NamedRegistration) => Change,
): void {
  api.post(
    `/events/registrations/:passReference/${name}`,
    {
      schema: {
        ...description,
        tags: ['Registrations'],
        failures: [...COMMON_FAILURES, '34', '35', '91'],
        params: Type.Pick(RegistrationStatus, ['passReference']),
        response: answersOf(PassReference),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const { principal, params } = request;
      const { partnerId, eventId, passPrefix } = principal;
      const parts = parsePassReference(params.passReference);
      if (parts?.eventId !== eventId || parts.prefix !== passPrefix) return reply.fail('34');
      const { serial, passCode } = parts;
      const change = changeOf(principal, { partnerId, eventId, serial, passCode });
      const outcome = await groups.submit(principal, change);
      if (outcome === 'cancelled' || outcome === 'confirmed') return success(params.passReference);
      if (outcome === 'failed') throw new Error(`to ${name} a registration failed`);
      if (outcome === null) return reply.fail('34');
      return reply.fail(REFUSALS[outcome], { retryAfterSeconds: groups.retryAfterSeconds(principal) });
    },
  );
}
