import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { PROPOSALS } from '../forms/choices.ts';
import { alertHtml, card, type Texts } from '../view/html.ts';
import { ruleWords } from '../words/index.ts';
import { rowsOf, ticketField, type TICKET_FIELDS } from './new-event-plan.ts';

/** A partner that can be chosen. */
interface PartnerChoice {
  id: number;
  name: string;
}

/** The content of the form of a new event. */
export interface NewEventForm {
  /** The texts in its fields. */
  given: Texts;
  partners: readonly PartnerChoice[];
  /** The rules that fields break, by their name. */
  invalid: Texts;
  /** Faults that belong to no field alone. */
  note: string;
}

/** Returns the form of a new event: everything that it needs to be sold, on one page. */
export function newEventHtml(page: PageRequest, form: NewEventForm) {
  const { newEvent, forms } = page.words;
  const count = Object.keys(form.invalid).length;
  const note = count > 0 ? newEvent.look(page.format.number(count)) : form.note;
  return html`!${alertHtml(note)}
    <form class="wide fields" method="post" action="/events/new">
      !${defaultButton(newEvent.make)} !${whatHtml(page, form)} !${ticketsHtml(page, form)}
      !${sellersHtml(page, form)} !${mailHtml(page, form)} !${passesHtml(page, form)}
      <p class="buttons">
        <button class="primary">${newEvent.make}</button>
        <a class="button" href="/">${forms.cancel}</a>
      </p>
    </form>`;
}

/** The Enter key presses the first button of a form, which would be the one for more tickets. */
const defaultButton = (name: string) =>
  html`<button class="unseen" tabindex="-1" aria-hidden="true">${name}</button>`;

interface FieldOptions {
  label: string;
  hint?: string;
  /** Attributes of the control. */
  attributes?: string;
}

/** Returns a field with its label, an example, and the rule that it breaks. */
function field(
  { words }: PageRequest,
  { invalid, given }: NewEventForm,
  name: string,
  options: FieldOptions,
) {
  const { label, hint = '', attributes = '' } = options;
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input !${attributesOf(name, invalid)} value="${given[name] ?? ''}" autocomplete="off" !${attributes} />
    !${hintHtml(name, hint, invalid, words)}
  </div>`;
}

const attributesOf = (name: string, invalid: Texts) =>
  html`id="${name}" name="${name}" aria-describedby="${name}-hint"
  !${name in invalid ? 'aria-invalid="true"' : ''}`;

function hintHtml(name: string, hint: string, invalid: Texts, words: PageRequest['words']) {
  const rule = invalid[name];
  const problem = html`<strong>${words.forms.notValid}:</strong>
    ${rule === undefined ? '' : ruleWords(words, rule)}`;
  return html`<p class="hint" id="${name}-hint">!${rule === undefined ? html`${hint}` : problem}</p>`;
}

/** Returns a field of which one value is chosen. */
function choice(
  { words }: PageRequest,
  { invalid, given }: NewEventForm,
  name: string,
  { label, hint = '', values }: { label: string; hint?: string; values: Texts },
) {
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <select !${attributesOf(name, invalid)}>
      !${Object.entries(values).map(
        ([value, text]) =>
          html`<option value="${value}" !${value === given[name] ? 'selected' : ''}>${text}</option>`,
      )}
    </select>
    !${hintHtml(name, hint, invalid, words)}
  </div>`;
}

/** Returns a box that is checked or not. */
const box = ({ given }: NewEventForm, name: string, label: string) =>
  html`<label class="box"
    ><input type="checkbox" name="${name}" value="true" !${given[name] === 'true' ? 'checked' : ''} />
    ${label}</label
  >`;

const listOf = (name: 'timeZone' | 'currency') =>
  html`<datalist id="${name}-list">
    !${(PROPOSALS[name]?.() ?? []).map((one) => html`<option value="${one}"></option>`)}
  </datalist>`;

function whatHtml(page: PageRequest, form: NewEventForm) {
  const { newEvent, settings } = page.words;
  const time = 'type="datetime-local"';
  return card(
    newEvent.what,
    html`!${field(page, form, 'name', {
        label: newEvent.name,
        hint: newEvent.nameHint,
        attributes: 'required maxlength="255"',
      })}
      !${field(page, form, 'venue', { label: settings.venue, hint: newEvent.venueHint })}
      <div class="columns">
        !${field(page, form, 'startsAt', { label: settings.starts, attributes: time })}
        !${field(page, form, 'endsAt', { label: settings.ends, attributes: time })}
        !${field(page, form, 'timeZone', {
          label: settings.zone,
          hint: newEvent.zoneHint,
          attributes: 'list="timeZone-list"',
        })}
        !${listOf('timeZone')}
      </div>
      <div class="columns">
        !${field(page, form, 'currency', {
          label: settings.currency,
          hint: newEvent.currencyHint,
          attributes: 'list="currency-list"',
        })}
        !${listOf('currency')}
        !${choice(page, form, 'mode', { label: settings.mode, hint: newEvent.modeHint, values: settings.modes })}
      </div>`,
  );
}

function ticketsHtml(page: PageRequest, form: NewEventForm) {
  const { newEvent } = page.words;
  const count = rowsOf(form.given);
  const rows = Array.from({ length: count }, (_, index) => ticketHtml(page, form, index + 1));
  return card(
    page.words.event.tabs.tickets,
    html`<p class="hint">${newEvent.aboutTickets}</p>
      !${rows}
      <input type="hidden" name="rows" value="${count}" />
      <p><button name="more" value="true" formnovalidate>${newEvent.more}</button></p>`,
  );
}

/** The times of a sale, which most tickets do not have. */
const SALE_TIMES = ['saleStartsAt', 'saleEndsAt'] as const;
const TICKET_FACTS = ['title', 'capacity', 'price'] as const;

/**
 * Returns the fields of a ticket. The first one has the examples, and the times are folded away until they are
 * used.
 */
function ticketHtml(page: PageRequest, form: NewEventForm, row: number) {
  const { newEvent } = page.words;
  const fieldOf = (name: (typeof TICKET_FIELDS)[number], attributes: string) =>
    field(page, form, ticketField(row, name), {
      label: newEvent.ticketFields[name],
      hint: row === 1 || name.endsWith('At') ? newEvent.ticketHints[name] : '',
      attributes,
    });
  const facts = TICKET_FACTS.map((name) => fieldOf(name, name === 'title' ? '' : 'inputmode="decimal"'));
  const times = SALE_TIMES.map((name) => fieldOf(name, 'type="datetime-local"'));
  const isOpen = SALE_TIMES.map((name) => ticketField(row, name)).some(
    (name) => form.given[name] || name in form.invalid,
  );
  return html`<fieldset class="ticket">
    <legend>${newEvent.ticketNumber(page.format.number(row))}</legend>
    <div class="columns">!${facts}</div>
    <details !${isOpen ? 'open' : ''}>
      <summary>${newEvent.saleTimes}</summary>
      <div class="times columns">!${times}</div>
    </details>
  </fieldset>`;
}

function sellersHtml({ words }: PageRequest, { given, partners }: NewEventForm) {
  const chosen = new Set((given['partnerIds'] ?? '').split(','));
  const boxes = partners.map(
    ({ id, name }) =>
      html`<label class="box"
        ><input type="checkbox" name="partnerIds" value="${id}" !${chosen.has(String(id)) ? 'checked' : ''} />
        ${name}</label
      >`,
  );
  return card(
    words.sellers.title,
    partners.length === 0
      ? html`<p class="hint">${words.newEvent.noPartners}</p>`
      : html`<fieldset class="field">
          <legend>${words.newEvent.chooseSellers}</legend>
          <div class="boxes">!${boxes}</div>
        </fieldset>`,
  );
}

function mailHtml(page: PageRequest, form: NewEventForm) {
  const { newEvent, settings } = page.words;
  return card(
    settings.mail,
    html`<fieldset class="field">
        <legend>${newEvent.mailKinds}</legend>
        !${box(form, 'sendsMail', newEvent.sendsMail)}
        !${box(form, 'mailOperatorCancels', newEvent.mailOperatorCancels)}
        !${box(form, 'mailPartnerCancels', newEvent.mailPartnerCancels)}
      </fieldset>
      <div class="columns">
        !${choice(page, form, 'language', { label: settings.language, values: settings.languages })}
        !${field(page, form, 'replyTo', {
          label: settings.replyTo,
          hint: newEvent.replyToHint,
          attributes: 'type="email"',
        })}
      </div>`,
  );
}

function passesHtml(page: PageRequest, form: NewEventForm) {
  const { newEvent, settings } = page.words;
  return card(
    newEvent.passes,
    html`<div class="columns">
      !${field(page, form, 'passPrefix', { label: settings.prefix, hint: newEvent.prefixHint })}
      !${choice(page, form, 'duplicatePolicy', {
        label: settings.duplicates,
        hint: newEvent.fixedHint,
        values: settings.policies,
      })}
    </div>`,
  );
}
