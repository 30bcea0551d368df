import type { Selectable } from 'kysely';
import type { TicketsTable } from '@floodgate/database';

/** A ticket as it is stored. */
export type TicketRow = Selectable<TicketsTable>;

/** What an operator sets on a ticket. */
export type TicketSettings = ReturnType<typeof settingsOf>;

/** Returns what an operator has set on a ticket. */
export function settingsOf(row: TicketRow) {
  const { title, price, benefits, active, capacity, sale_starts_at, sale_ends_at } = row;
  return { title, price, benefits, active, capacity, saleStartsAt: sale_starts_at, saleEndsAt: sale_ends_at };
}

/** Returns the columns of the settings; what is not given is undefined, and left alone. */
export function columnsOf<Given extends Partial<TicketSettings>>(settings: Given) {
  const { saleStartsAt, saleEndsAt, ...others } = settings;
  return { ...others, sale_starts_at: saleStartsAt, sale_ends_at: saleEndsAt };
}
