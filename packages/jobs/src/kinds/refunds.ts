import type { Database } from '@floodgate/database';
import { HOUSE_PARTNER_ID } from '@floodgate/database/schema/house-partner';
import { amountText } from '@floodgate/events/currency';
import type { PartnerSeats } from '@floodgate/registrations/matches';
import type { Ticket } from '@floodgate/tickets';

/** Seats with the names that an operator knows. The amount is what is to be paid back. */
export interface NamedSeats extends PartnerSeats {
  partner: string;
  ticket: string;
}

/** The seats that a partner has sold, and the amount that is to be paid back to its customers. */
export interface Refund {
  partnerId: number;
  partner: string;
  /** The seats are those of guests of the operator. Nobody paid for them, so the amount is 0. */
  isGuests: boolean;
  seats: number;
  amount: number;
}

/** Returns whether seats are those of guests. */
export const isHouse = ({ partnerId }: { partnerId: number }) => partnerId === HOUSE_PARTNER_ID;

/** Returns the seats with the names of their partners and tickets. */
export async function nameSeats(
  db: Database,
  seats: readonly PartnerSeats[],
  tickets: readonly Pick<Ticket, 'id' | 'title'>[],
): Promise<NamedSeats[]> {
  if (seats.length === 0) return [];
  const ids = [...new Set(seats.map(({ partnerId }) => partnerId))];
  const partners = await db.selectFrom('partners').select(['id', 'name']).where('id', 'in', ids).execute();
  const names = new Map(partners.map(({ id, name }) => [id, name]));
  const titles = new Map(tickets.map(({ id, title }) => [id, title]));
  return seats.map(({ partnerId, ticketId, amount, ...sums }) => {
    const [partner, ticket] = [names.get(partnerId) ?? '', titles.get(ticketId) ?? ''];
    // The ticket of a guest has a price, but nobody paid it.
    return { partnerId, partner, ticketId, ticket, ...sums, amount: isHouse({ partnerId }) ? 0 : amount };
  });
}

/** Returns the sum of amounts. In whole cents, because sums of decimals are inexact. */
export const sumAmounts = (rows: readonly { amount: number }[]) =>
  rows.reduce((cents, { amount }) => cents + Math.round(100 * amount), 0) / 100;

/** Returns an amount with its currency, if it has one. */
export const moneyText = (amount: number, currency: string | null) =>
  amountText(amount, currency) + (currency === null ? '' : ` ${currency}`);

/** Returns what each partner has sold, in the order of the seats. */
export function refundsOf(seats: readonly NamedSeats[]): Refund[] {
  const byPartner = Map.groupBy(
    seats.filter(({ sold }) => sold > 0),
    ({ partnerId }) => partnerId,
  );
  return Array.from(byPartner, ([partnerId, own]) => ({
    partnerId,
    partner: own[0]!.partner,
    isGuests: isHouse({ partnerId }),
    seats: own.reduce((sum, { sold }) => sum + sold, 0),
    amount: sumAmounts(own),
  }));
}
