import { mayUse } from '@floodgate/operators';
import { html } from 'ghtml';
import { address, Html, link, together, type Shown, type Texts } from '../view/html.ts';
import type { Format } from '../view/format.ts';
import { listing, type Column } from '../view/listing.ts';
import type { Words } from '../words/index.ts';
import type { EventPageRequest } from './event-page.ts';
import type { Asked } from './report-filter.ts';

export type ReportName = keyof Words['reports']['names'];

/** A page shows so many lines at most. The files have all of them. */
const MOST_LINES = 500;

/** The fields of every line of a report. */
export interface Line {
  ticketId: number;
  ticket: string;
  partnerId?: number;
  partner?: string;
}

/** Returns the sum of a field of lines. */
export const sumOf = <Field extends string>(
  lines: readonly Readonly<Record<Field, number>>[],
  field: Field,
) => lines.reduce((sum, line) => sum + line[field], 0);

/** Returns the name of a partner, with a link for those who may see partners. */
export const partnerName = (
  { operator }: EventPageRequest,
  { partnerId, partner }: { partnerId: number; partner: string },
) => (mayUse(operator, 'partners:read') ? link(`/partners/${partnerId}`, partner) : partner);

export const ticketName = ({ event }: EventPageRequest, { ticketId, ticket }: Line) =>
  link(`/events/${event.id}/tickets/${ticketId}`, ticket);

/** Returns a table of lines. Of very many, it has the first ones. */
export function linesHtml<Item extends Line>(
  { words: { reports }, format }: EventPageRequest,
  lines: readonly Item[],
  { columns, empty }: { columns: readonly (Column<Item> | false)[]; empty: string },
) {
  const shown = lines.slice(0, MOST_LINES);
  const cut = reports.cut(format.number(shown.length), format.number(lines.length));
  return html`!${listing({ caption: reports.lines, isTitled: true, things: shown, columns, empty, format })}
  !${shown.length < lines.length ? html`<p class="hint">${cut}</p>` : ''}`;
}

export const downloadLink = (href: string, file: string, text: string, label: string) =>
  new Html(html`<a class="button" href="${href}" download="${file}" aria-label="${label}">${text}</a>`);

/** The file of a spreadsheet has the separator of its language: German ones have a decimal comma. */
const SEPARATORS = { en: 'comma', de: 'semicolon' } as const;

/** Returns the separator of files for spreadsheets. */
export const separatorOf = ({ language }: Format) => SEPARATORS[language];

/**
 * Returns links to files with what a report shows, from the operator API. `of`: only of this partner, and
 * without JSON.
 */
export function fileLinks(
  page: EventPageRequest,
  name: ReportName,
  asked: Asked,
  of?: { partnerId: number; partner: string },
) {
  const { words, format, event } = page;
  const { reports } = words;
  const given: Texts = { ...asked.given, ...(name === 'sales' && { by: asked.by }) };
  if (of) given['partnerId'] = String(of.partnerId);
  const path = `/operator/v1/events/${event.id}/reports/${name}`;
  const file = [event.name, reports.names[name], of?.partner, asked.from, asked.to]
    .filter(Boolean)
    .join(' – ');
  const linkTo = (text: string, ending: string, more: Texts) => {
    const label = of ? reports.fileOf(text, of.partner) : text;
    return downloadLink(address(path, { ...given, ...more }), `${file}.${ending}`, text, label);
  };
  const separator = separatorOf(format);
  const tables = [
    linkTo(reports.csv, 'csv', { format: 'csv' }),
    linkTo(reports.spreadsheet, 'csv', { format: 'excel', separator }),
  ];
  return together(...tables, ...(of ? [] : [linkTo(reports.json, 'json', { format: 'json' })]));
}

/** Returns the column of an amount. Null: the price of a sale is missing, which reconcile reports. */
export const moneyColumn = <Thing>(
  page: EventPageRequest,
  head: string,
  amountOf: (thing: Thing) => number | null,
): Column<Thing> => ({ head, cell: (thing) => money(page, amountOf(thing)), isNumber: true });

export const money = ({ format, event }: EventPageRequest, amount: number | null): Shown =>
  amount === null ? null : format.money(amount, event.currency);
