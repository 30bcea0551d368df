import type { SettlementRow } from '@floodgate/reports/console';
import { html } from 'ghtml';
import { barChart } from '../view/chart.ts';
import { figure, grid, together } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { EventPageRequest } from './event-page.ts';
import { invoicePath } from './invoice-file.ts';
import type { Asked } from './report-filter.ts';
import {
  downloadLink,
  fileLinks,
  linesHtml,
  money,
  moneyColumn,
  partnerName,
  sumOf,
  ticketName,
} from './report-parts.ts';

/** More bars cannot be told apart. The table has all partners. */
const MOST_BARS = 12;

interface PartnerSum {
  partnerId: number;
  partner: string;
  sold: number;
  cancelled: number;
  soldAmount: number;
  cancelledAmount: number;
  netAmount: number;
}

/** Returns the sums of each partner, the largest amount first. */
function sumByPartner(rows: readonly SettlementRow[]): PartnerSum[] {
  const groups = Object.values(Object.groupBy(rows, ({ partnerId }) => partnerId));
  const sums = groups.map((ofPartner = []) => ({
    partnerId: ofPartner[0]!.partnerId,
    partner: ofPartner[0]!.partner,
    sold: sumOf(ofPartner, 'sold'),
    cancelled: sumOf(ofPartner, 'cancelled'),
    soldAmount: sumOf(ofPartner, 'soldAmount'),
    cancelledAmount: sumOf(ofPartner, 'cancelledAmount'),
    netAmount: sumOf(ofPartner, 'netAmount'),
  }));
  return sums.toSorted((one, other) => other.netAmount - one.netAmount);
}

/** Shows what each partner owes, with an invoice for each as a file. */
export function showSettlement(
  page: EventPageRequest,
  { rows }: { rows: readonly SettlementRow[] },
  asked: Asked,
) {
  const { words, format } = page;
  const { reports } = words;
  const sums = sumByPartner(rows);
  const figures = grid(
    figure(money(page, sumOf(rows, 'netAmount')), reports.netMeaning),
    figure(money(page, sumOf(rows, 'soldAmount')), reports.soldAmount),
    figure(money(page, sumOf(rows, 'cancelledAmount')), reports.cancelledAmount),
    figure(format.number(sumOf(rows, 'sold') - sumOf(rows, 'cancelled')), reports.left),
  );
  const partners = listing<PartnerSum>({
    caption: reports.perPartner,
    isTitled: true,
    things: sums,
    empty: reports.nothing,
    format,
    columns: [
      { head: reports.partner, cell: (sum) => partnerName(page, sum) },
      { head: reports.sold, cell: ({ sold }) => sold },
      { head: reports.cancelled, cell: ({ cancelled }) => cancelled },
      moneyColumn(page, reports.soldAmount, ({ soldAmount }) => soldAmount),
      moneyColumn(page, reports.cancelledAmount, ({ cancelledAmount }) => cancelledAmount),
      moneyColumn(page, reports.netAmount, ({ netAmount }) => netAmount),
      {
        head: '',
        cell: (sum) => together(invoiceLink(page, sum, asked), fileLinks(page, 'settlement', asked, sum)),
      },
    ],
  });
  if (rows.length === 0) return [partners];
  const lines = linesHtml(page, rows, {
    empty: reports.nothing,
    columns: [
      { head: reports.partner, cell: (row) => partnerName(page, row) },
      { head: reports.ticket, cell: (row) => ticketName(page, row) },
      moneyColumn(page, reports.price, ({ price }) => price),
      { head: reports.sold, cell: ({ sold }) => sold },
      { head: reports.cancelled, cell: ({ cancelled }) => cancelled },
      moneyColumn(page, reports.netAmount, ({ netAmount }) => netAmount),
    ],
  });
  return [figures, partnersChart(page, sums), partners, lines];
}

function invoiceLink(page: EventPageRequest, { partnerId, partner }: PartnerSum, asked: Asked) {
  const { invoice, reports } = page.words;
  const file = [invoice.invoice, page.event.name, partner, asked.from, asked.to].filter(Boolean).join(' – ');
  const label = reports.fileOf(invoice.invoice, partner);
  return downloadLink(invoicePath(page, partnerId, asked), `${file}.csv`, invoice.invoice, label);
}

/** Longer names would cover each other. The table below the chart has them in full. */
const LONGEST_LABEL = 18;

const shortened = (name: string) =>
  name.length > LONGEST_LABEL ? `${Array.from(name).slice(0, LONGEST_LABEL).join('')}…` : name;

function partnersChart(
  { words: { reports, shell }, format, event }: EventPageRequest,
  sums: readonly PartnerSum[],
) {
  const shown = sums.slice(0, MOST_BARS);
  const chart = barChart({
    title: reports.perPartnerChart,
    labels: shown.map(({ partner }) => shortened(partner)),
    series: [{ name: reports.netAmount, values: shown.map(({ netAmount }) => netAmount) }],
    format,
    valueText: (amount) => format.money(amount, event.currency),
    axisText: (amount) => format.shortMoney(amount, event.currency),
    words: { time: reports.partner, asTable: shell.asTable },
  });
  return html`<section class="card">
    <h2>${reports.perPartnerChart}</h2>
    !${chart}
  </section>`;
}
