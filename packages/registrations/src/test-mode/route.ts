import { answersOf, BODY_LIMIT_BYTES, COMMON_FAILURES, success, TestEventReset } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { withoutBody, type PartnerPrincipal, type Routes } from '@floodgate/http';
import { REFUSALS, type Changes } from '../change/routes.ts';
import { findUncancelled, forgetKeys } from './reset-event.ts';

/** At once: a transaction holds up the finalization of its shard. */
const PER_GROUP = 500;
const GROUPS = 20;
const KEYS = 10_000;

/** POST /events/reset: cancels what the caller has registered under a test event, and forgets its keys. */
export function addResetRoute(
  api: Routes,
  db: Database,
  { cancellations }: Pick<Changes, 'cancellations'>,
): void {
  /** Cancels a group of them. Resolves to how many, whether there may be more, and why not all of the group, where not. */
  async function cancelSome(principal: PartnerPrincipal) {
    const { partnerId, eventId } = principal;
    const found = await findUncancelled(db, principal, PER_GROUP);
    const outcomes = await Promise.all(
      found.map((one) => cancellations.submit(principal, { ...one, partnerId, eventId, deadline: null })),
    );
    const count = outcomes.filter((outcome) => outcome === 'cancelled').length;
    const refusal = outcomes.find((outcome) => outcome !== 'cancelled' && outcome !== null);
    return { count, more: found.length === PER_GROUP, refusal };
  }

  withoutBody(api, (routes) =>
    routes.post(
      '/events/reset',
      {
        schema: {
          operationId: 'resetTestEvent',
          tags: ['Registrations'],
          summary: 'Reset Test Event',
          description:
            'Cancels the registrations that the same partner made under this test event, up to 10,000 in one call, and then forgets ' +
            'the Idempotency-Keys. Safe to repeat; do so while `more` is true. A live event has no such route: 60.',
          failures: [...COMMON_FAILURES, '60', '91'],
          response: answersOf(TestEventReset),
        },
        bodyLimit: BODY_LIMIT_BYTES,
      },
      async ({ principal }, reply) => {
        if (principal.mode !== 'test') return reply.fail('60', { message: 'Only a test event can be reset' });
        let cancelled = 0;
        for (let group = 0; group < GROUPS; group += 1) {
          const { count, more, refusal } = await cancelSome(principal);
          cancelled += count;
          // There is room for fewer at once. What was done is done.
          if (refusal === 'overloaded' && cancelled > 0) break;
          if (refusal)
            return reply.fail(REFUSALS[refusal], {
              retryAfterSeconds: cancellations.retryAfterSeconds(principal),
            });
          if (!more) return success({ cancelled, more: (await forgetKeys(db, principal, KEYS)) === KEYS });
        }
        return success({ cancelled, more: true });
      },
    ),
  );
}
