import { systemClock, type Logger } from '@floodgate/service';

/** A ticket, and the event that the request names. */
export interface TicketOfEvent {
  ticketId: number;
  eventId: number;
}

/** The circuit breakers of tickets. */
export interface LockedTickets {
  /** Returns whether the ticket's breaker is open. */
  has: (ticket: TicketOfEvent) => boolean;
  /** Opens the breakers. One that was opened before stays open for twice as long as the last time. */
  lock: (tickets: readonly TicketOfEvent[]) => void;
  /** Closes the breakers of tickets for which a group has committed. */
  release: (tickets: readonly TicketOfEvent[]) => void;
}

/**
 * How long a breaker stays open before one group tries the ticket again. Doubled each time that it is still
 * locked.
 */
const COOL_DOWN_MS = 500;
const MAX_COOL_DOWN_MS = 5_000;
const LOCKED = 'another transaction keeps a ticket locked; registrations for it are refused, others continue';

/**
 * Circuit breakers of tickets whose rows another transaction keeps locked for longer than a commit takes,
 * usually one that an operator forgot. While a breaker is open, registrations for the ticket are refused
 * immediately. Otherwise all registrations in their group would wait with them.
 */
export function createLockedTickets(log: Logger, clock = systemClock): LockedTickets {
  /**
   * By ticket and event, until a group with the ticket commits. A request that names another event is not
   * affected.
   */
  const locks = new Map<string, { coolDownMs: number; refusedUntil: number }>();
  return {
    has: (ticket) => locks.size > 0 && clock.now() < (locks.get(nameOf(ticket))?.refusedUntil ?? 0),

    lock(tickets) {
      for (const ticket of tickets) {
        const earlier = locks.get(nameOf(ticket));
        const coolDownMs = earlier ? Math.min(2 * earlier.coolDownMs, MAX_COOL_DOWN_MS) : COOL_DOWN_MS;
        locks.set(nameOf(ticket), { coolDownMs, refusedUntil: clock.now() + coolDownMs });
        if (!earlier) log.warn({ ticketId: ticket.ticketId }, LOCKED);
      }
    },

    release(tickets) {
      if (locks.size === 0) return;
      for (const ticket of tickets)
        if (locks.delete(nameOf(ticket)))
          log.info({ ticketId: ticket.ticketId }, 'a locked ticket is free again');
    },
  };
}

/** Returns the name of a ticket of an event. */
export const nameOf = ({ ticketId, eventId }: TicketOfEvent) => `${ticketId} ${eventId}`;
