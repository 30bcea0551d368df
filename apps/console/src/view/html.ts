import { html } from 'ghtml';

/** The fields of a form or the query of an address. */
export type Texts = Record<string, string>;

/** HTML in place of text. The class marks it, not a property: data from Postgres can have any property. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const NOTHING = new Html('');

/** The values that a place of a page can show. Nothing is a dash. */
export type Shown = Html | string | number | null | undefined;

/** Returns HTML for what a place shows: a text is escaped. */
export function shownHtml(shown: Shown): string {
  if (shown === null || shown === undefined || shown === '') return '<span class="none">–</span>';
  return shown instanceof Html ? shown.text : html`${String(shown)}`;
}

export const link = (href: string, name: string | number) => new Html(html`<a href="${href}">${name}</a>`);

/** Returns an address with these fields as its query. Those that are undefined or empty are left out. */
export function address(path: string, query: Record<string, string | number | undefined> = {}) {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(fields.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** How a link looks, and what it is about. */
export interface LinkLook {
  kind?: 'primary' | 'danger' | undefined;
  /** The thing that it is about, where several links have the same name: those of rows. It is read out. */
  of?: string | undefined;
}

/** Returns the attribute with the name that is read out: "Stop sale: VIP". Empty without a thing. */
export const spokenName = (name: string, of: string | undefined) =>
  of === undefined ? '' : html`aria-label="${`${name}: ${of}`}"`;

/** Returns a link that looks like a button. */
export const buttonLink = (href: string, name: string, { kind, of }: LinkLook = {}) =>
  new Html(html`<a class="button ${kind ?? ''}" href="${href}" !${spokenName(name, of)}>${name}</a>`);

/** Returns what is shown side by side. Links to forms that the operator may not use are empty. */
export const together = (...parts: Html[]) => new Html(parts.flatMap(({ text }) => text || []).join(' '));

/** Returns links and buttons as a row, or nothing if there are none. */
export function actions(...links: Html[]) {
  const shown = together(...links).text;
  return shown && html`<p class="actions">!${shown}</p>`;
}

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet';

/** Returns a state as a coloured word. The colour only repeats what the word says. */
export const chip = (tone: Tone, text: string) => new Html(html`<span class="chip ${tone}">${text}</span>`);

/** Returns a bar that is filled by this part of a whole. The numbers next to it say the same. */
export function bar(part: number, whole: number) {
  const filled = whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 0;
  return new Html(
    html`<meter class="bar" min="0" max="1" value="${filled.toFixed(3)}" aria-hidden="true"></meter>`,
  );
}

/** Returns an alert, or nothing without a text. */
export const alertHtml = (text: string) => text && html`<p class="alert" role="alert">${text}</p>`;

/** Returns a part of a page with a heading. `size`: how many of twelve columns it takes on a wide screen. */
export const card = (heading: string, content: string, size: 3 | 4 | 5 | 6 | 7 | 8 | 12 = 12) =>
  html`<section class="card s${size}">!${heading && html`<h2>${heading}</h2>`} !${content}</section>`;

/** Returns cards in a grid. Empty ones are left out. */
export const grid = (...cards: string[]) => html`<div class="grid">!${cards.filter(Boolean)}</div>`;

/** Returns a large number with its meaning below. */
export const figure = (value: Shown, meaning: Shown) =>
  html`<div class="card s3 figure">
    <div class="num">!${shownHtml(value)}</div>
    <div class="soft">!${shownHtml(meaning)}</div>
  </div>`;

/** Returns names with their values. */
export const facts = (...pairs: (readonly [name: string, value: Shown])[]) =>
  html`<dl>
    !${pairs.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>!${shownHtml(value)}</dd>
        </div>`,
    )}
  </dl>`;

/** Returns a list without marks, one thought per row. */
export const rows = (...items: Shown[]) =>
  html`<ul class="rows">
    !${items.map((item) => html`<li>!${shownHtml(item)}</li>`)}
  </ul>`;
