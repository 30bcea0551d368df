import type { Selectable } from 'kysely';
import type { TicketsTable } from '@floodgate/database';

/** A ticket as it is stored. */
export type TicketRow = Selectable<TicketsTable>;

/** What an operator sets on a ticket. */
export interface TicketSettings {
  title: string;
  price: number;
  benefits: string;
  active: boolean;
  capacity: number;
  saleStartsAt: Date | null;
  saleEndsAt: Date | null;
}

const COLUMNS = {
  title: 'title',
  price: 'price',
  benefits: 'benefits',
  active: 'active',
  capacity: 'capacity',
  saleStartsAt: 'sale_starts_at',
  saleEndsAt: 'sale_ends_at',
} as const satisfies Record<keyof TicketSettings, keyof TicketsTable>;

/** The names of the settings. */
export const SETTINGS = Object.keys(COLUMNS) as (keyof TicketSettings)[];

/** Returns the columns of the settings that are given. */
export function columnsOf(settings: Partial<TicketSettings>): Record<string, unknown> {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [COLUMNS[name as keyof TicketSettings], value]));
}

/** Returns what an operator has set on a ticket. */
export function settingsOf(row: TicketRow): TicketSettings {
  const { title, price, benefits, active, capacity, sale_starts_at, sale_ends_at } = row;
  return { title, price, benefits, active, capacity, saleStartsAt: sale_starts_at, saleEndsAt: sale_ends_at };
}
