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
import { withoutBody, type PartnerPrincipal, type Routes } from '@floodgate/http';
import { REFUSALS, type Changes } from '../change/routes.ts';
import { findUncancelled, forgetKeys, readResetCursor, saveResetCursor, type Found } from './reset-event.ts';

/** A larger group would delay other registrations of its tickets. */
const PER_GROUP = 500;
const GROUPS = 20;
const KEYS = 10_000;

interface Dependencies {
  /** A pool of its own: live registrations must not wait for the connections of a reset. */
  db: Database;
  cancellations: Changes['cancellations'];
  answerWithinMs: number;
}

/** POST /events/reset: cancels the caller's registrations under a test event, and deletes its idempotency keys. */
export function addResetRoute(api: Routes, { db, cancellations, answerWithinMs }: Dependencies): void {
  const queue = createFairQueue({ answerWithinMs, abandonsStarted: false, patienceMs: answerWithinMs });

  /** Cancels registrations. Resolves to how many, and the first refusal, if any. */
  async function cancel(principal: PartnerPrincipal, found: Found[]) {
    const { partnerId, eventId } = principal;
    const outcomes = await Promise.all(
      found.map((one) => cancellations.submit(principal, { ...one, partnerId, eventId, deadline: null })),
    );
    const count = outcomes.filter((outcome) => outcome === 'cancelled').length;
    return { count, refusal: outcomes.find((outcome) => outcome !== 'cancelled' && outcome !== null) };
  }

  /** Resolves to what was reset, or to why nothing was. */
  async function reset(principal: PartnerPrincipal) {
    let cancelled = 0;
    let after = await readResetCursor(db, principal);
    for (let group = 0; group < GROUPS; group += 1) {
      const { found, cursor, more } = await findUncancelled(db, principal, after, PER_GROUP);
      const { count, refusal } = await cancel(principal, found);
      cancelled += count;
      // The queue is full. What was cancelled stays cancelled.
      if (refusal === 'overloaded' && cancelled > 0) break;
      if (refusal) return refusal;
      if (cursor !== after) await saveResetCursor(db, principal, cursor);
      after = cursor;
      if (!more) return { cancelled, more: (await forgetKeys(db, principal, KEYS)) === KEYS };
    }
    return { cancelled, more: true };
  }

  withoutBody(api, (routes) =>
    routes.post('/events/reset', { schema: SCHEMA, bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
      const { principal, raw } = request;
      if (principal.mode !== 'test') return reply.fail('60', { message: 'Only a test event can be reset' });
      const isWanted = () => !raw.socket.destroyed;
      const done = await queue(principal.partnerId, isWanted, () => reset(principal));
      if (typeof done === 'object') return success(done);
      return reply.fail(REFUSALS[done], { retryAfterSeconds: cancellations.retryAfterSeconds(principal) });
    }),
  );
}

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
