import { formatTimestamp, success, type Ticket } from '@floodgate/contract';
import { listAvailableTickets, type Database, type TicketRow } from '@floodgate/database';
import { LRUCache } from 'lru-cache';

/** Age of a cached answer at most, the time to read it included. */
const MAX_AGE_MS = 1_000;
const MAX_EVENTS = 10_000;

/** The available tickets of events, each kept for a second as the very text of the answer. */
export class TicketList {
  readonly #cache: LRUCache<number, string>;

  constructor(db: Database) {
    this.#cache = new LRUCache({
      max: MAX_EVENTS,
      ttl: MAX_AGE_MS,
      ignoreFetchAbort: true,
      fetchMethod: async (eventId, _, { options }) => {
        const startedAt = performance.now();
        const tickets = await listAvailableTickets(db, eventId);
        options.ttl = Math.max(1, MAX_AGE_MS - (performance.now() - startedAt));
        return JSON.stringify(success(tickets.map(toTicket)));
      },
    });
  }

  /** The answer's text, if it is at hand. */
  peek(eventId: number): string | undefined {
    return this.#cache.get(eventId);
  }

  /** The answer's text. Rejects where Postgres does not answer. */
  read(eventId: number): Promise<string> {
    return this.#cache.forceFetch(eventId);
  }
}

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
