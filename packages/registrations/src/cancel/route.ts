import { Type } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  parsePassReference,
  RegistrationStatus,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { PassReference } from '../register/route.ts';
import type { Canceller } from './canceller.ts';

const REFUSALS = {
  'too-late': '35',
  overloaded: '90',
  unknown: '91',
  failed: '99',
} as const satisfies Record<string, FailureCode>;

/** POST /events/registrations/{passReference}/cancel: gives a seat back. */
export function addCancelRoute(api: Routes, canceller: Pick<Canceller, 'cancel'>): void {
  void api.register((route, _options, done) => {
    // There is nothing to say in a body, and clients send one nevertheless, of any type or none.
    route.removeAllContentTypeParsers();
    route.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, parsed) => parsed(null));
    route.addHook('onRequest', (request, _reply, next) => {
      request.headers['content-type'] = 'application/octet-stream';
      next();
    });
    addRoute(route, canceller);
    done();
  });
}

function addRoute(api: Routes, canceller: Pick<Canceller, 'cancel'>): void {
  api.post(
    '/events/registrations/:passReference/cancel',
    {
      schema: {
        operationId: 'cancelRegistration',
        tags: ['Events'],
        summary: 'Cancel Registration',
        description:
          'Cancels a registration that the same partner made under this event. Its seat can be sold again at once. ' +
          'Safe to repeat: what is cancelled already is answered "00" as well.',
        failures: [...COMMON_FAILURES, '34', '35', '91'],
        params: Type.Pick(RegistrationStatus, ['passReference']),
        response: answersOf(PassReference),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const { principal, params } = request;
      const { shardId, partnerId, eventId, cancelUntil: deadline, passPrefix } = principal;
      const parts = parsePassReference(params.passReference);
      if (parts?.eventId !== eventId || parts.prefix !== passPrefix) return reply.fail('34');
      const { serial, passCode } = parts;
      const outcome = await canceller.cancel(shardId, { partnerId, eventId, serial, passCode, deadline });
      if (outcome === 'cancelled') return success(params.passReference);
      if (outcome === 'failed')
        request.log.error({ requestId: request.id }, 'a cancellation failed unexpectedly');
      return reply.fail(outcome === null ? '34' : REFUSALS[outcome]);
    },
  );
}
