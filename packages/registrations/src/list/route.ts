import {
  answersOf,
  COMMON_FAILURES,
  RegistrationList,
  RegistrationListQuery,
  success,
} from '@floodgate/contract';
import type { RecentReads } from '@floodgate/database';
import type { Routes } from '@floodgate/http';
import { createSlots } from '@floodgate/service';
import { statusOf } from '../status/route.ts';
import { listRegistrations } from './list-registrations.ts';

const DEFAULT_LIMIT = 100;
/** A list that takes longer waits for a shard that does not answer, and keeps no other waiting. */
const PATIENCE_MS = 500;

/** GET /events/registrations: what became of the caller's own registrations, in order, from a cursor on. */
export function addListRoute(api: Routes, recent: RecentReads): void {
  // One connection, however many ask: what keys open, and tickets, must not wait for lists.
  const inTurn = createSlots(1, PATIENCE_MS);
  api.get(
    '/events/registrations',
    {
      schema: {
        operationId: 'listRegistrations',
        tags: ['Events'],
        summary: 'List Registrations',
        description:
          'Lists what became of the registrations that the same partner made under this event: an entry for each change, ' +
          'in order. Read on from the cursor to skip nothing and see nothing twice.',
        failures: [...COMMON_FAILURES, '11'],
        querystring: RegistrationListQuery,
        response: answersOf(RegistrationList),
      },
    },
    async ({ principal, query: { after, limit, state } }) => {
      const { shardId, eventId, partnerId } = principal;
      const selection = { shardId, eventId, partnerId, ...(state && { kinds: [state] }) };
      // All of a page from one server: what one says of an entry, another may not have yet.
      const { value: page } = await inTurn(() =>
        recent.read((db) =>
          listRegistrations(db, selection, Number(after ?? 0), Number(limit ?? DEFAULT_LIMIT)),
        ),
      );
      const { rows, cursor, more } = page;
      return success({ registrations: rows.map(statusOf), cursor: String(cursor), more });
    },
  );
}
