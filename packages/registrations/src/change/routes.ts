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
import type { WhyTooLate } from './why-too-late.ts';

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
export function addChangeRoutes(
  api: Routes,
  { cancellations, confirmations }: Changes,
  whyTooLate: WhyTooLate,
): void {
  withoutBody(api, (routes) => {
    // What a reader tries in order can be done in order.
    const keep = { name: 'confirm', description: CONFIRM, whyTooLate } as const;
    addChangeRoute(routes, keep, confirmations, (_principal, named) => named);
    const giveBack = { name: 'cancel', description: CANCEL, whyTooLate } as const;
    addChangeRoute(routes, giveBack, cancellations, ({ cancelUntil: deadline }, named) => {
      return { ...named, deadline };
    });
  });
}

const CANCEL = {
  operationId: 'cancelRegistration',
  summary: 'Cancel Registration',
  description:
    'Cancels a registration that the same partner made under this event. Its seat can be sold again at once. ' +
    'Safe to repeat: a cancelled registration is answered "00" again.',
};

const CONFIRM = {
  operationId: 'confirmRegistration',
  summary: 'Confirm Registration',
  description:
    'Confirms a held registration (Hold-For), so that it no longer expires. Safe to repeat: a confirmed registration is ' +
    'answered "00" again. After the hold has expired, the answer is 35.',
};

interface ChangeRoute {
  name: 'cancel' | 'confirm';
  description: typeof CANCEL;
  whyTooLate: WhyTooLate;
}

function addChangeRoute<Change>(
  api: Routes,
  { name, description, whyTooLate }: ChangeRoute,
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
      const message = outcome === 'too-late' ? await whyTooLate(name, principal, serial) : undefined;
      return reply.fail(REFUSALS[outcome], {
        ...(message && { message }),
        retryAfterSeconds: groups.retryAfterSeconds(principal),
      });
    },
  );
}
