import { HOUSE_PARTNER_ID } from '@floodgate/database';
import type { SettlementRow } from '@floodgate/reports/console';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { Html } from '../view/html.ts';
import { listing } from '../view/listing.ts';

/** Resolves to what each partner has sold and cancelled. Empty: the operator may not see it. */
export async function settlementRows(
  { read, operations }: PageRequest,
  eventId: number,
): Promise<SettlementRow[]> {
  const report = await read(operations.reportSettlement, { eventId });
  return report === undefined || report instanceof Response ? [] : report.rows;
}

/** An amount of a partner. A partner can have several. */
interface Amount {
  partnerId: number;
  partner: string;
  currency: string | null;
  amount: number;
}

/**
 * Returns the sums of amounts by partner and currency. Partners without an amount are left out. Nobody paid for
 * guests, so their seats have none.
 */
export function paybackHtml({ words, format }: PageRequest, amounts: readonly Amount[]) {
  const sums = new Map<string, Amount>();
  for (const { amount, ...of } of amounts) {
    const key = JSON.stringify([of.partnerId, of.currency]);
    const { partnerId, partner, currency } = of;
    sums.set(key, { partnerId, partner, currency, amount: (sums.get(key)?.amount ?? 0) + amount });
  }
  return listing({
    caption: words.jobs.toPayBack,
    things: [...sums.values()].filter(({ amount }) => amount > 0),
    empty: words.shell.none,
    format,
    columns: [
      { head: words.jobs.partner, cell: ({ partner }) => new Html(html`<bdi>${partner}</bdi>`) },
      {
        head: words.jobs.amount,
        cell: ({ partnerId, amount, currency }) =>
          partnerId === HOUSE_PARTNER_ID ? words.jobs.ofGuests : format.money(amount, currency),
      },
    ],
  });
}
