import { html } from 'ghtml';
import { address, alertHtml, buttonLink, link, together, type Texts } from '../view/html.ts';
import type { EventPageRequest } from './event-page.ts';

/** The subject of a report, as the address of its page says it. */
export interface Asked {
  /** Days as the form has them. Empty: without a bound. */
  from: string;
  to: string;
  partnerId: string;
  ticketId: string;
  by: 'day' | 'hour';
  /** The same as fields of the operation. */
  given: { from?: string; until?: string; partnerId?: string; ticketId?: string };
  /** Why the period is ignored. Empty: it is not. */
  problem: string;
}

/** The choices of the form. */
export interface Names {
  partners: readonly (readonly [id: number, name: string])[];
  tickets: readonly (readonly [id: number, name: string])[];
}

/** The choices that narrow a report. */
export interface Narrowing {
  hasPeriod: boolean;
  hasSteps: boolean;
}

const ID = /^[1-9]\d{0,9}$/;

/** Years that no zone and no table finds too large. */
const DAY = /^2\d{3}-\d{2}-\d{2}$/;

/** Returns a day of the form. Undefined: it is empty. Null: it is no day. */
function dayOf(text = '') {
  if (text === '') return undefined;
  try {
    return DAY.test(text) ? Temporal.PlainDate.from(text) : null;
  } catch {
    return null;
  }
}

const startOf = (day: Temporal.PlainDate, zone: string) => day.toZonedDateTime(zone).toInstant().toString();

/** Returns what the address asks for. A period that cannot be is none, and says why. */
export function askedOf(page: EventPageRequest, { hasPeriod }: Narrowing): Asked {
  const { query } = page;
  const idOf = (text = '') => (ID.test(text) ? text : '');
  const [partnerId, ticketId] = [idOf(query['partnerId']), idOf(query['ticketId'])];
  const by = query['by'] === 'hour' ? 'hour' : 'day';
  const { from, to, problem, given } = hasPeriod ? periodOf(page) : WHOLE_TIME;
  const subject = { ...(partnerId && { partnerId }), ...(ticketId && { ticketId }) };
  return { from, to, problem, partnerId, ticketId, by, given: { ...given, ...subject } };
}

const WHOLE_TIME = { from: '', to: '', problem: '', given: {} };

function periodOf({ query, format, words: { reports } }: EventPageRequest) {
  const [from, to] = [dayOf(query['from']), dayOf(query['to'])];
  if (from === null || to === null) return { ...WHOLE_TIME, problem: reports.badDay };
  if (from && to && Temporal.PlainDate.compare(from, to) > 0)
    return { ...WHOLE_TIME, problem: reports.badPeriod };
  const given = {
    ...(from && { from: startOf(from, format.zone) }),
    // The last day belongs to the period.
    ...(to && { until: startOf(to.add({ days: 1 }), format.zone) }),
  };
  return { from: String(from ?? ''), to: String(to ?? ''), problem: '', given };
}

/** Returns the fields of an address that asks for the same. */
export const queryOf = ({ from, to, partnerId, ticketId, by }: Asked): Texts => ({
  from,
  to,
  partnerId,
  ticketId,
  by: by === 'day' ? '' : by,
});

/** Resolves to the names of partners and tickets of an event. */
export async function namesOf({
  read,
  operations,
  params: { eventId },
  tickets,
}: EventPageRequest): Promise<Names> {
  const partners = (await read(operations.eventPartners, { eventId })) ?? [];
  return {
    partners: partners.map(({ partnerId, partner }) => [partnerId, partner] as const),
    tickets: tickets.map(({ id, title }) => [id, title] as const),
  };
}

/** Returns the period of a report in words, with the zone of its days. */
export function periodText({ words: { reports }, format }: EventPageRequest, { from, to }: Asked) {
  const shown = (text: string) => format.day(new Date(`${text}T12:00:00Z`));
  const days = [from && reports.since(shown(from)), to && reports.upTo(shown(to))];
  const period = days.filter(Boolean).join(' ');
  return capitalized(period ? `${period}, ${reports.inZone(format.zone)}` : reports.wholeTime);
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns what a report is about in words, also for those who read it on paper. */
export function aboutAsked(page: EventPageRequest, asked: Asked, names: Names, hasPeriod: boolean) {
  const { reports } = page.words;
  const nameIn = (all: Names['partners'], id: string) => all.find(([one]) => String(one) === id)?.[1] ?? id;
  return [
    hasPeriod && periodText(page, asked),
    asked.partnerId ? nameIn(names.partners, asked.partnerId) : reports.allPartners,
    asked.ticketId ? nameIn(names.tickets, asked.ticketId) : reports.allTickets,
  ]
    .filter(Boolean)
    .join(' · ');
}

const field = (name: string, label: string, control: string) =>
  html`<div class="field"><label for="${name}">${label}</label>!${control}</div>`;

const select = (
  name: string,
  chosen: string,
  choices: readonly (readonly [value: string | number, text: string])[],
) =>
  html`<select id="${name}" name="${name}">
    !${choices.map(
      ([value, text]) =>
        html`<option value="${value}" !${String(value) === chosen ? 'selected' : ''}>${text}</option>`,
    )}
  </select>`;

const dayField = (name: string, label: string, day: string) =>
  field(name, label, html`<input type="date" id="${name}" name="${name}" value="${day}" />`);

/** Returns the form that narrows a report. It is a GET, so its address can be kept and sent. */
export function filterHtml(
  page: EventPageRequest,
  asked: Asked,
  names: Names,
  { hasPeriod, hasSteps }: Narrowing,
) {
  const { reports } = page.words;
  const path = page.url.split('?', 1)[0]!;
  const fields = [
    hasPeriod && dayField('from', reports.from, asked.from) + dayField('to', reports.to, asked.to),
    field(
      'partnerId',
      reports.partner,
      select('partnerId', asked.partnerId, [['', reports.allPartners], ...names.partners]),
    ),
    field(
      'ticketId',
      reports.ticket,
      select('ticketId', asked.ticketId, [['', reports.allTickets], ...names.tickets]),
    ),
    hasSteps &&
      field(
        'by',
        reports.step,
        select('by', asked.by, [
          ['day', reports.byDay],
          ['hour', reports.byHour],
        ]),
      ),
  ];
  return html`!${alertHtml(asked.problem)}
    <form class="card filter" method="get" action="${path}" aria-label="${reports.filter}">
      !${fields.filter((one) => one !== false)}
      <p class="buttons">
        <button class="primary">${reports.show}</button>
        !${hasPeriod ? periodLinks(page, asked, path) : ''} !${link(path, reports.everything).text}
      </p>
    </form>`;
}

/** Returns links to the months that are invoiced most. */
function periodLinks({ format, words: { reports } }: EventPageRequest, asked: Asked, path: string) {
  const first = Temporal.Now.plainDateISO(format.zone).with({ day: 1 });
  const monthLink = (start: Temporal.PlainDate, name: string) => {
    const to = start.with({ day: start.daysInMonth }).toString();
    return buttonLink(address(path, { ...queryOf(asked), from: start.toString(), to }), name);
  };
  return together(
    monthLink(first, reports.thisMonth),
    monthLink(first.subtract({ months: 1 }), reports.lastMonth),
  ).text;
}
