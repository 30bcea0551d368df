import { Type } from '@sinclair/typebox';
import { Cursor, Id, Limit as limit, oneOf } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import { findTicket } from '@floodgate/tickets';
import { STATES } from './states.ts';
import { listEntries } from './waiting-list.ts';

export { STATES };

const { queryOperation } = operationsOn('tickets');

export const waitingListOperations = {
  waitingList: queryOperation(
    'GET /tickets/{ticketId}/waiting-list',
    'List the entries of the waiting list of a ticket, in the order in which they joined',
    'waitingList',
    Type.Object({ ticketId: Id, state: Type.Optional(oneOf(STATES)), after: Cursor, limit }),
    async (db, { ticketId, state, after = 0, limit: most = 100 }) => {
      const { shardId } = await findTicket(db, ticketId);
      const entries = await listEntries(db, { shardId, ticketId, state, after, limit: most });
      return { entries, cursor: String(entries.at(-1)?.serial ?? after), more: entries.length === most };
    },
  ),
};
