import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  success,
  TestEventReset,
  type FailureCode,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { createFairQueue } from '@floodgate/service/fair-queue';
import type { Routes } from '@floodgate/http';
import type { ChangeGroups } from '../change/change-registrations.ts';
import { REFUSALS } from '../change/routes.ts';
import { resetEvent } from './reset-event.ts';

const SCHEMA = {
  operationId: 'resetTestEvent',
  tags: ['Registrations'],
  summary: 'Reset Test Event',
  description:
    'Cancels the registrations that the same partner made under this test event, up to 10,000 in one call, and then forgets ' +
    'the Idempotency-Keys. Safe to repeat; do so while `more` is true. A live event has no such route: 60.',
  failures: [...COMMON_FAILURES, '60', '91'] satisfies FailureCode[],
  response: answersOf(TestEventReset),
};

/** POST /events/reset: cancels the caller's registrations under a test event, and deletes its idempotency keys. */
export function addResetRoute(api: Routes, db: Database, cancels: ChangeGroups, answerWithinMs: number) {
  // One at a time: live registrations must not wait for the connections of resets.
  const queue = createFairQueue({ answerWithinMs, abandonsStarted: false, patienceMs: answerWithinMs });
  api.post('/events/reset', { schema: SCHEMA, bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
    const { principal, raw } = request;
    if (principal.mode !== 'test') return reply.fail('60', { message: 'Only a test event can be reset' });
    const isWanted = () => !raw.socket.destroyed;
    const done = await queue(principal.partnerId, isWanted, () => resetEvent(db, cancels, principal));
    if (typeof done === 'object') return success(done);
    return cancels.refuse(request, reply, REFUSALS[done]);
  });
}
