import { formatTimestamp, success, type Ticket } from '@floodgate/contract';
import { readThroughCache, type Database } from '@floodgate/database';
import type { TicketRow } from '../ticket-settings.ts';
import { listAvailableTickets } from './list-available-tickets.ts';
import type { LRUCache } from 'lru-cache';

/** The available tickets of events, each kept for a second as the very text of the answer. */
export type TicketList = LRUCache<number, string>;

/** Returns the list that reads from `db`. */
export const ticketList = (db: Database): TicketList =>
  readThroughCache(async (eventId) => {
    const tickets = await listAvailableTickets(db, eventId);
    return JSON.stringify(success(tickets.map(toTicket)));
  });

/** A ticket in the order and types that partners were promised. */
export function toTicket(row: TicketRow): Ticket {
  return {
    id: row.id,
    ticketTitle: row.title,
    ticketPrice: row.price,
    ticketBenefits: row.benefits,
    activeStatus: row.active,
    organizedEventID: row.event_id,
    organizedEvent: null,
    count: row.capacity - row.taken,
    dateCreated: formatTimestamp(row.created_at),
    createdBy: row.created_by,
    lastModifiedBy: row.last_modified_by,
    lastModifiedDate: formatTimestamp(row.last_modified_at),
  };
}
