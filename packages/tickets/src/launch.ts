import type { LaunchState } from '@floodgate/contract';
import type { Ticket } from './tickets.ts';

/** The fields of a ticket on which the state of its sale depends. */
export type TicketOnSale = Pick<Ticket, 'capacity' | 'taken' | 'saleStartsAt' | 'saleEndsAt'>;

export const seatsLeft = ({ capacity, taken }: TicketOnSale) => capacity - taken;

const hasStarted = ({ saleStartsAt }: TicketOnSale, moment: Date) => !saleStartsAt || saleStartsAt <= moment;
const hasEnded = ({ saleEndsAt }: TicketOnSale, moment: Date) => saleEndsAt !== null && saleEndsAt <= moment;

/** Returns whether an active ticket is available at a moment. */
export const isAvailable = (ticket: TicketOnSale, moment: Date) =>
  hasStarted(ticket, moment) && !hasEnded(ticket, moment) && seatsLeft(ticket) > 0;

/** Returns the state of an event's sale at a moment, by its active tickets. */
export function launchStateAt(tickets: readonly TicketOnSale[], moment: Date) {
  const left = tickets.filter((ticket) => !hasEnded(ticket, moment));
  return {
    phase: phaseOf(left, moment),
    opensAt: bordersOf(tickets, 'saleStartsAt')[0] ?? null,
    closesAt: bordersOf(tickets, 'saleEndsAt').at(-1) ?? null,
    seatsLeft: left.reduce((sum, ticket) => sum + seatsLeft(ticket), 0),
  };
}

/**
 * Returns the times at which the sales start or end, in order. None if one of the tickets has no such time.
 */
function bordersOf(tickets: readonly TicketOnSale[], name: 'saleStartsAt' | 'saleEndsAt') {
  const borders = tickets.map((ticket) => ticket[name]).filter((border) => border !== null);
  return borders.length === tickets.length ? borders.toSorted((left, right) => +left - +right) : [];
}

function phaseOf(left: readonly TicketOnSale[], moment: Date): LaunchState['phase'] {
  if (left.some((ticket) => isAvailable(ticket, moment))) return 'open';
  if (left.some((ticket) => hasStarted(ticket, moment))) return 'soldOut';
  return left.length > 0 ? 'scheduled' : 'closed';
}
