import { answersOf, COMMON_FAILURES, RegistrationList, RegistrationListQuery } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Routes } from '@floodgate/http';
import { statusOf } from '../status/find-registrations.ts';
import { createPageAnswer } from './answer-page.ts';
import { listRegistrations } from './list-registrations.ts';

/** GET /events/registrations: the changes of the caller's registrations, in order, after a cursor. */
export function addListRoute(api: Routes, reads: Database, answerWithinMs: number): void {
  const answerPage = createPageAnswer(answerWithinMs);
  api.get(
    '/events/registrations',
    {
      schema: {
        operationId: 'listRegistrations',
        tags: ['Registrations'],
        summary: 'List Registrations',
        description:
          'Lists the changes of the registrations that the same partner made under this event, one entry for each change, in ' +
          'order. Continue from the cursor to miss nothing and see nothing twice.',
        failures: [...COMMON_FAILURES, '11'],
        querystring: RegistrationListQuery,
        response: answersOf(RegistrationList),
      },
    },
    async (request, reply) => {
      const { shardId, eventId, partnerId } = request.principal;
      const { state } = request.query;
      const selection = { shardId, eventId, partnerId, ...(state && { kinds: [state] }) };
      return answerPage(
        request,
        reply,
        (after, limit) => listRegistrations(reads, selection, after, limit),
        ({ rows, ...page }) => ({ registrations: rows.map(statusOf), ...page }),
      );
    },
  );
}
