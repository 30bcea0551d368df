import { answering, COMMON_FAILURES, RegistrationList, RegistrationListQuery } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Routes } from '@floodgate/http';
import type { Clock } from '@floodgate/service';
import { entryOf } from '../status/find-registrations.ts';
import { listRegistrations } from './list-registrations.ts';
import { createPageAnswer } from './page-answer.ts';

/** GET /events/registrations: the changes of the caller's registrations, in order, after a cursor. */
export function addListRoute(api: Routes, reads: Database, answerWithinMs: number, clock?: Clock) {
  const answerPage = createPageAnswer(answerWithinMs, clock);
  api.get(
    '/events/registrations',
    {
      schema: {
        operationId: 'listRegistrations',
        ...answering('Registrations', RegistrationList, [...COMMON_FAILURES, '11']),
        summary: 'List Registrations',
        description:
          'Lists the changes of the registrations that the same partner made under this event, one entry for ' +
          'each change, in order. Continue from the cursor to miss nothing and see nothing twice. With ' +
          '`partnerReference`, lists the registrations that have it, as they are now.',
        querystring: RegistrationListQuery,
      },
    },
    async (request, reply) => {
      const { state, partnerReference, include } = request.query;
      const selection = { ...request.principal, state, partnerReference };
      return answerPage(
        request,
        reply,
        (after, limit) => listRegistrations(reads, selection, after, limit),
        ({ rows, ...page }) => ({
          registrations: rows.map((row) => entryOf(row, include === 'partnerReference')),
          ...page,
        }),
      );
    },
  );
}
