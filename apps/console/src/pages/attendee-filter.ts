import { RegistrationFilter } from '@floodgate/registrations/console';
import { html } from 'ghtml';
import { instantText } from '../forms/times.ts';
import type { Texts } from '../view/html.ts';
import type { EventPageRequest } from './event-page.ts';
import { filterWords } from './filter-words.ts';
import { partnerNames } from './names.ts';

type Field = Exclude<keyof typeof RegistrationFilter.properties, 'eventId'>;

const FIELDS = Object.keys(RegistrationFilter.properties).filter((name): name is Field => name !== 'eventId');
const TIMES: readonly string[] = ['soldFrom', 'soldUntil'];

/** A filter in the query of a page: each field that was given, as a text. */
export type FilterTexts = { [Name in Field]?: string };

/** Returns the fields of a filter in a query. Times of the form are in the zone of the event. */
export function filterIn(query: Texts, zone: string): FilterTexts {
  const given = FIELDS.flatMap((name): [string, string][] => {
    const text = query[name]?.trim();
    if (!text) return [];
    return [[name, TIMES.includes(name) ? instantText(text, zone) : text]];
  });
  return Object.fromEntries(given);
}

/** A choice of a field: its value and its name. */
type Choice = readonly [value: string, name: string];

/** Returns the form of a filter, filled with what it has now. It is a GET: a page of a list can be kept and sent on. */
export async function filterForm(page: EventPageRequest, path: string) {
  const { words, query, tickets, event, format } = page;
  const { attendees, columns, states } = words.people;
  const { sent, waiting, undeliverable, suppressed, none } = words.messages.states;
  const names = await partnerNames(page, [event.id]);
  const partners = [...names].map(([id, name]): Choice => [String(id), name]);
  const choose = (name: Field, label: string, choices: readonly Choice[]) =>
    fieldHtml(name, label, selectHtml(name, choices, query[name] ?? '', attendees.any));
  const type = (name: Field, label: string, kind = 'text') =>
    fieldHtml(
      name,
      label,
      html`<input
        id="${name}"
        name="${name}"
        type="${kind}"
        value="${query[name] ?? ''}"
        autocomplete="off"
      />`,
    );
  const { held, reserved, confirmed, failed, cancelled } = states;
  const given = Object.entries(filterIn(query, format.zone));
  const isFiltered = given.length > 0;
  const titles = new Map(tickets.map(({ id, title }) => [id, title]));
  const chosen = given.map(([name, value]) => {
    const { label, text } = filterWords(name, value, page, { tickets: titles, partners: names });
    return html`<span class="soft">· ${label}:</span> ${text}`;
  });
  return html`<details class="card">
    <summary>${attendees.filter} !${chosen.join(' ')}</summary>
    <form class="filter" method="get" action="${path}">
      !${type('name', attendees.name)} !${type('email', attendees.email)} !${type('phone', attendees.phone)}
      !${type('partnerReference', attendees.partnerReference)}
      !${choose('state', columns.state, Object.entries({ confirmed, held, reserved, failed, cancelled }))}
      !${choose(
        'ticketId',
        columns.ticket,
        tickets.map(({ id, title }): Choice => [String(id), title]),
      )}
      !${choose('partnerId', columns.partner, partners)}
      !${choose('mail', columns.mail, Object.entries({ sent, waiting, undeliverable, suppressed, none }))}
      !${choose('admitted', columns.admitted, Object.entries(attendees.isAdmitted))}
      !${type('soldFrom', attendees.soldFrom, 'datetime-local')}
      !${type('soldUntil', attendees.soldUntil, 'datetime-local')}
      <p class="buttons">
        <button class="primary">${attendees.show}</button>
        !${isFiltered ? html`<a class="button" href="${path}">${attendees.reset}</a>` : ''}
      </p>
    </form>
  </details>`;
}

const fieldHtml = (name: string, label: string, control: string) =>
  html`<div class="field"><label for="${name}">${label}</label>!${control}</div>`;

const selectHtml = (name: string, choices: readonly Choice[], chosen: string, any: string) =>
  html`<select id="${name}" name="${name}">
    <option value="">${any}</option>
    !${choices.map(
      ([value, text]) =>
        html`<option value="${value}" !${value === chosen ? 'selected' : ''}>${text}</option>`,
    )}
  </select>`;
