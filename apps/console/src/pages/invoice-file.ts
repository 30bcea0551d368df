import type { SettlementRow } from '@floodgate/reports/console';
import { BYTE_ORDER_MARK, csvLines, EXPORT_FORMATS, SEPARATORS } from '@floodgate/registrations/console';
import type { FastifyInstance } from 'fastify';
import { requestOf } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { Refusal } from '../principals.ts';
import { address } from '../view/html.ts';
import { ofEvent, type EventPageRequest } from './event-page.ts';
import { periodText, askedOf, queryOf, type Asked } from './report-filter.ts';
import { separatorOf, sumOf } from './report-parts.ts';

const SCOPES = ['registrations:read'] as const;
const PERIOD = { hasPeriod: true, hasSteps: false } as const;

/** Returns the address of the invoice of a partner, about what a report is asked for. */
export const invoicePath = ({ event }: EventPageRequest, partnerId: number, asked: Asked) =>
  address(`/events/${event.id}/reports/invoices/${partnerId}`, { ...queryOf(asked), partnerId: undefined });

/**
 * Adds the invoice of a partner as a file for spreadsheets, in the language of the person: the event, the
 * partner, the period, the lines and the total.
 */
export function addInvoiceFile(app: FastifyInstance, context: ConsoleContext) {
  app.get('/events/:eventId/reports/invoices/:partnerId', async (request, reply) => {
    const page = await ofEvent(await requestOf(request, { scopes: SCOPES, isList: false }, context));
    const { read, operations, params, event } = page;
    const { partnerId } = params;
    const asked = askedOf(page, PERIOD);
    if (asked.problem) throw new Refusal(422, 'Invalid input', asked.problem);
    const found = await read(operations.reportSettlement, { eventId: event.id, ...asked.given, partnerId });
    if (!found || found instanceof Response) throw new Refusal(403, 'You may not do this');
    const headers = {
      'content-type': EXPORT_FORMATS.excel,
      'content-disposition': `attachment; filename="invoice-${event.id}-${partnerId}.csv"`,
    };
    return reply.send(new Response(await invoiceText(page, asked, found.rows), { headers }));
  });
}

async function invoiceText(page: EventPageRequest, asked: Asked, rows: readonly SettlementRow[]) {
  const { words, format, event, operator } = page;
  const { reports, invoice, settings } = words;
  const line = csvLines(SEPARATORS[separatorOf(format)]);
  const when = event.startsAt ? format.span(event.startsAt, event.endsAt) : null;
  const head = [
    [invoice.event, event.name],
    [invoice.when, when],
    [settings.venue, event.venue],
    [reports.partner, ...(await partnerCells(page))],
    [invoice.period, periodText(page, asked)],
    [settings.currency, event.currency],
    [invoice.made, format.timeText(new Date()), operator.name],
  ].filter(([, value]) => value !== null);
  const names = [reports.ticket, reports.price, reports.sold, reports.soldAmount];
  const columns = [...names, reports.cancelled, reports.cancelledAmount, reports.netAmount];
  const lines = rows.map(({ ticket, price, sold, soldAmount, cancelled, cancelledAmount, netAmount }) =>
    line([ticket, price, sold, soldAmount, cancelled, cancelledAmount, netAmount]),
  );
  return [
    BYTE_ORDER_MARK,
    ...head.map(line),
    line([]),
    line(columns),
    ...lines,
    line(totalOf(page, rows)),
  ].join('');
}

/** Returns the cells of the line with the sums. An amount has the decimals of money, whatever the sums have. */
function totalOf({ words }: EventPageRequest, rows: readonly SettlementRow[]) {
  const amount = (field: 'soldAmount' | 'cancelledAmount' | 'netAmount') => roundedTo2(sumOf(rows, field));
  return [
    words.invoice.total,
    null,
    sumOf(rows, 'sold'),
    amount('soldAmount'),
    sumOf(rows, 'cancelled'),
    amount('cancelledAmount'),
    amount('netAmount'),
  ];
}

/** The sum of decimal numbers can have a tiny part too much. */
const roundedTo2 = (amount: number) => Math.round(amount * 100) / 100;

/** Resolves to the name of the partner, and the address of its people for those who may see it. */
async function partnerCells({ read, operations, params, sellers }: EventPageRequest) {
  const id = Number(params.partnerId);
  const partner = (await read(operations.partnerList, {}))?.find((one) => one.id === id);
  const name = partner?.name ?? sellers.find(({ partnerId }) => partnerId === id)?.partner;
  if (name === undefined) throw new Refusal(404, 'No such partner');
  return [name, partner?.contactEmail ?? null];
}
