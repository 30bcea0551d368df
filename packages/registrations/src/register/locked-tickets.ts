import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';
import type { Logger } from '@floodgate/service';

/** A ticket, and the event that the request names. */
export interface TicketOfEvent {
  shardId: number;
  ticketId: number;
  eventId: number;
}

/** How long a breaker stays open before one group tries the ticket again. Doubled each time that it is still locked. */
const COOL_DOWN_MS = 500;
const MAX_COOL_DOWN_MS = 5_000;
const LOCKED = 'another transaction keeps a ticket locked; its registrations are refused, others go on';

/**
 * Circuit breakers of tickets whose rows another transaction keeps locked for longer than a commit takes, usually one that an
 * operator forgot. While a breaker is open, registrations for the ticket are refused at once: otherwise all registrations in their
 * group would wait with them.
 */
export function createLockedTickets(log: Logger) {
  /** By ticket id, until a group with the ticket has committed. */
  const locks = new Map<number, { eventId: number; coolDownMs: number; refusedUntil: number }>();
  return {
    /** Returns whether the ticket's breaker is open. A request that names a wrong event is not affected. */
    has({ ticketId, eventId }: TicketOfEvent): boolean {
      if (locks.size === 0) return false;
      const lock = locks.get(ticketId);
      return lock !== undefined && lock.eventId === eventId && performance.now() < lock.refusedUntil;
    },

    /** Opens the breakers, for longer than the last time. */
    lock(tickets: readonly TicketOfEvent[]): void {
      for (const { ticketId, eventId } of tickets) {
        const known = locks.get(ticketId);
        const coolDownMs = known ? Math.min(2 * known.coolDownMs, MAX_COOL_DOWN_MS) : COOL_DOWN_MS;
        locks.set(ticketId, { eventId, coolDownMs, refusedUntil: performance.now() + coolDownMs });
        if (!known) log.warn({ ticketId }, LOCKED);
      }
    },

    /** Closes the breakers of tickets that a group has committed for. */
    release(tickets: readonly TicketOfEvent[]): void {
      if (locks.size === 0) return;
      for (const { ticketId, eventId } of tickets) {
        if (locks.get(ticketId)?.eventId !== eventId) continue;
        locks.delete(ticketId);
        log.info({ ticketId }, 'a locked ticket is free again');
      }
    },
  };
}

export type LockedTickets = ReturnType<typeof createLockedTickets>;

/** Returns the tickets of one shard whose rows another transaction has locked, each once. Waits for no lock. */
export async function findLockedTickets(
  db: Database,
  tickets: readonly TicketOfEvent[],
): Promise<TicketOfEvent[]> {
  const found = sql`
    select t.shard_id as "shardId", t.id as "ticketId", t.event_id as "eventId"
    from tickets t
    join (
      select distinct ticket_id, event_id
      from unnest(
        ${plainArray(tickets.map(({ ticketId }) => ticketId))}::integer[],
        ${plainArray(tickets.map(({ eventId }) => eventId))}::integer[]
      ) as asked (ticket_id, event_id)
    ) wanted on wanted.ticket_id = t.id and wanted.event_id = t.event_id
    where t.shard_id = ${tickets[0]!.shardId}`;
  const { rows: all } = await sql<TicketOfEvent>`${found}`.execute(db);
  const { rows: free } = await sql<TicketOfEvent>`${found} for no key update of t skip locked`.execute(db);
  const freeIds = new Set(free.map(({ ticketId }) => ticketId));
  return all.filter(({ ticketId }) => !freeIds.has(ticketId));
}
