import type { Logger } from '@floodgate/service';
import { awaitTicket } from './await-ticket.ts';
import { findLockedTickets, type TicketOfEvent } from './find-locked-tickets.ts';
import { type Database } from '@floodgate/database';

export interface HeldTicketsOptions {
  db: Database;
  log: Logger;
  /** How long to wait in line for a ticket before the others are looked at. */
  lockWithinMs: number;
}

/**
 * Tickets whose rows somebody else holds for longer than commits take: a transaction that an operator forgot, as a rule.
 * Until one is released its buyers are refused at once: in a group, the buyers of all other tickets would wait with them.
 */
export class HeldTickets {
  readonly #options: HeldTicketsOptions;
  /** By ticket id; the one that was looked at longest ago first. */
  readonly #held = new Map<number, { eventId: number; isLogged: boolean }>();
  #isWatching = false;

  constructor(options: HeldTicketsOptions) {
    this.#options = options;
  }

  /** Under another event than its own no ticket is held: there is no such ticket. */
  has({ ticketId, eventId }: TicketOfEvent): boolean {
    return this.#held.get(ticketId)?.eventId === eventId;
  }

  /** Takes each of these for held until it is seen released. */
  hold(tickets: readonly TicketOfEvent[]): void {
    for (const { ticketId, eventId } of tickets)
      if (!this.#held.has(ticketId)) this.#held.set(ticketId, { eventId, isLogged: false });
    if (!this.#isWatching) void this.#watch();
  }

  /** Stops looking after them. */
  close(): void {
    this.#held.clear();
  }

  /** Looks after the tickets until all are released. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#held.size > 0) {
      try {
        await this.#look();
      } catch {
        // Postgres is away, and nothing is known of its rows any more: the next group finds out.
        this.#release([...this.#held.keys()]);
      }
    }
    this.#isWatching = false;
  }

  async #look(): Promise<void> {
    const { db, log, lockWithinMs } = this.#options;
    const held = Array.from(this.#held, ([ticketId, { eventId }]) => ({ ticketId, eventId }));
    const locked = new Set((await findLockedTickets(db, held)).map(({ ticketId }) => ticketId));
    this.#release(held.map(({ ticketId }) => ticketId).filter((ticketId) => !locked.has(ticketId)));
    const [first] = this.#held;
    if (!first) return;
    // In line, because other processes may take turns with it so that nobody ever finds it free.
    const [ticketId, ticket] = first;
    if (await awaitTicket(db, ticketId, lockWithinMs)) return this.#release([ticketId]);
    if (!ticket.isLogged)
      log.warn(
        { ticketId },
        'another transaction holds a ticket; its registrations are refused, others go on',
      );
    ticket.isLogged = true;
    if (this.#held.delete(ticketId)) this.#held.set(ticketId, ticket);
  }

  #release(ticketIds: readonly number[]): void {
    for (const ticketId of ticketIds) {
      if (this.#held.get(ticketId)?.isLogged)
        this.#options.log.info({ ticketId }, 'a held ticket is free again');
      this.#held.delete(ticketId);
    }
  }
}
