import {
  answering,
  COMMON_FAILURES,
  DEFAULT_LIMIT,
  RegistrationList,
  RegistrationListQuery,
  success,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Principal, Routes } from '@floodgate/http';
import type { CursorProblem } from '@floodgate/journal';
import type { Clock } from '@floodgate/service';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { entryOf } from '../status/find-registrations.ts';
import { CURSOR_PROBLEMS, listRegistrations } from './list-registrations.ts';

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
          'Lists the changes of the registrations that the same partner made under this event, one entry for each change, in ' +
          'order. Continue from the cursor to miss nothing and see nothing twice. With `partnerReference`, lists the registrations that ' +
          'have it, as they are now.',
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

interface PageRequest {
  principal: Principal;
  query: { after?: string; limit?: string };
  raw: { socket: { destroyed: boolean } };
}

/** Returns a function that answers a request for a page of the journal: with 11 if the list cannot continue from the cursor. */
export function createPageAnswer(answerWithinMs: number, clock?: Clock) {
  // One connection for all callers: lists must not delay registrations.
  const queue = createFairQueue({ answerWithinMs, clock });
  return async function answerPage<Page extends object, Answer, Failed>(
    { principal, query: { after = '0', limit = String(DEFAULT_LIMIT) }, raw }: PageRequest,
    reply: { fail(code: '11', specifics: object): Failed },
    read: (after: number, limit: number) => Promise<Page | CursorProblem>,
    present: (page: Page) => Answer | Promise<Answer>,
  ) {
    const isWanted = () => !raw.socket.destroyed;
    const page = await queue(principal.partnerId, isWanted, () => read(Number(after), Number(limit)));
    if (typeof page !== 'string') return success(await present(page));
    const message = `after: ${CURSOR_PROBLEMS[page]}`;
    return reply.fail('11', { message, invalidFields: [{ field: 'after', rule: page }] });
  };
}
