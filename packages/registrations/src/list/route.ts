import {
  answersOf,
  COMMON_FAILURES,
  RegistrationList,
  RegistrationListQuery,
  success,
} from '@floodgate/contract';
import type { Database, RecentReads } from '@floodgate/database';
import { createFairQueue, type Routes } from '@floodgate/http';
import { statusOf } from '../status/route.ts';
import { CURSOR_PROBLEMS, listRegistrations } from './list-registrations.ts';

const DEFAULT_LIMIT = 100;

interface Dependencies {
  reads: Database;
  recent: RecentReads;
  answerWithinMs: number;
}

/** GET /events/registrations: what became of the caller's own registrations, in order, from a cursor on. */
export function addListRoute(api: Routes, { reads, recent, answerWithinMs }: Dependencies): void {
  // One connection, however many ask: what keys open, and tickets, must not wait for lists.
  const inTurn = createFairQueue({ answerWithinMs });
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
    async ({ principal, query: { after, limit, state }, raw }, reply) => {
      const { shardId, eventId, partnerId } = principal;
      const selection = { shardId, eventId, partnerId, ...(state && { kinds: [state] }) };
      const isWanted = () => !raw.socket.destroyed;
      const list = (db: Database) =>
        listRegistrations(db, selection, Number(after ?? 0), Number(limit ?? DEFAULT_LIMIT));
      const page = await inTurn(partnerId, isWanted, async () => {
        // All of a page from one server: what one says of an entry, another may not have yet.
        const { value } = await recent.read(list);
        // A replica may be behind a cursor that the primary gave.
        return value === 'cursor-ahead' ? list(reads) : value;
      });
      if (typeof page === 'string')
        return reply.fail('11', {
          message: `after: ${CURSOR_PROBLEMS[page]}`,
          invalidFields: [{ field: 'after', rule: page }],
        });
      const { rows, cursor, more } = page;
      return success({ registrations: rows.map(statusOf), cursor, more });
    },
  );
}
