import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';
import type { Logger } from '@floodgate/service';

/** A ticket, and the event under which it was asked for. */
export interface TicketOfEvent {
  shardId: number;
  ticketId: number;
  eventId: number;
}

/** How long a ticket's buyers are refused before one group tries it again: doubled each time that it is still locked. */
const COOL_DOWN_MS = 500;
const MAX_COOL_DOWN_MS = 5_000;
const LOCKED = 'another transaction keeps a ticket locked; its registrations are refused, others go on';

/**
 * A circuit breaker for each ticket whose row another transaction keeps locked for longer than commits take: one that an
 * operator forgot, as a rule. While it cools down its buyers are refused at once: in a group, the buyers of all other
 * tickets would wait with them.
 */
export function createLockedTickets(log: Logger) {
  /** By ticket id, until the ticket is sold from again. */
  const locks = new Map<number, { eventId: number; coolDownMs: number; refusedUntil: number }>();
  return {
    /** Returns whether buyers of this ticket are refused now. Under another event than its own there is no such ticket. */
    has({ ticketId, eventId }: TicketOfEvent): boolean {
      if (locks.size === 0) return false;
      const lock = locks.get(ticketId);
      return lock !== undefined && lock.eventId === eventId && performance.now() < lock.refusedUntil;
    },

    /** Refuses the buyers of these tickets for a while, longer than the last time. */
    lock(tickets: readonly TicketOfEvent[]): void {
      for (const { ticketId, eventId } of tickets) {
        const known = locks.get(ticketId);
        const coolDownMs = known ? Math.min(2 * known.coolDownMs, MAX_COOL_DOWN_MS) : COOL_DOWN_MS;
        locks.set(ticketId, { eventId, coolDownMs, refusedUntil: performance.now() + coolDownMs });
        if (!known) log.warn({ ticketId }, LOCKED);
      }
    },

    /** Forgets those of the tickets that were locked: a group of theirs has committed. */
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

/**
 * Returns those of the tickets of one shard, found under their events, whose rows somebody else holds now: each once. Waits
 * for nobody.
 */
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
