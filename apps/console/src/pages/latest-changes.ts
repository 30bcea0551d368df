import { differencesOf, type AuditEntry } from '@floodgate/audit';
import type { Operation } from '@floodgate/operators';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { undoHtml, undoOf, type Undo } from '../forms/undo.ts';
import { Html, rows, shownHtml, type Shown } from '../view/html.ts';
import { fieldWords, valueWords, type Words } from '../words/index.ts';

interface ChangesOptions {
  changes: readonly AuditEntry[];
  /** Operations whose changes can be taken back from here. */
  undoes: readonly Operation[];
  /** The page to show after a change was taken back. */
  back: string;
  /** The currency of prices. */
  currency: string | null;
}

/** Resolves to the latest changes of a thing in words: who changed what, from what to what, and when. */
export async function changesHtml(page: PageRequest, { changes, undoes, back, currency }: ChangesOptions) {
  const { words, format } = page;
  if (changes.length === 0) return html`<p class="none">${words.latestChanges.none}</p>`;
  const undo = await undoOfNewest(page, changes, undoes);
  return rows(
    ...changes.map((change, index) => {
      const what = differencesOf(change).map((one) => differenceHtml(page, one, currency));
      const listed = what.length > 0 ? what.join('; ') : html`${valueWords(words, change.action)}`;
      return new Html(
        html`<strong>${change.actor}</strong>: !${listed}
          <span class="soft">!${format.ago(change.at).text}</span>
          !${undo && index === 0 ? undoHtml(undo, back, words) : ''}`,
      );
    }),
  );
}

/** What an older change says can have been changed again, so only the newest one is taken back. */
function undoOfNewest(
  { may, operations }: PageRequest,
  [newest]: readonly AuditEntry[],
  undoes: readonly Operation[],
): Promise<Undo | undefined> {
  const operation = undoes.find(({ action }) => action === newest?.action);
  const isUndone = newest && operation && may(operation.scope);
  return Promise.resolve(isUndone ? undoOf(operations, operation, newest) : undefined);
}

type Difference = ReturnType<typeof differencesOf>[number];

function differenceHtml(page: PageRequest, { name, was, is, isNew }: Difference, currency: string | null) {
  const { label } = fieldWords(page.words, name);
  const shown = (value: unknown) => shownHtml(valueShown(page, name, value, currency));
  if (isNew) return html`${label} !${shown(is)}`;
  return html`!${page.words.latestChanges.fromTo(html`${label}`, shown(was), shown(is))}`;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/;

/** Returns a value of the audit log as people read it. */
function valueShown(
  { words, format }: PageRequest,
  name: string,
  value: unknown,
  currency: string | null,
): Shown {
  if (value === null || value === undefined) return words.latestChanges.nothing;
  if (typeof value === 'number')
    return name === 'price' ? format.money(value, currency) : format.number(value);
  if (typeof value === 'string')
    return INSTANT.test(value) ? format.time(new Date(value)) : valueWords(words, value);
  if (typeof value === 'boolean') return valueWords(words, String(value));
  return typeof value === 'object' ? partsShown(value, words) : JSON.stringify(value);
}

/** Returns a value with fields, such as an allocation, with the names of its fields. */
function partsShown(value: object, words: Words) {
  const parts = Object.entries(value).map(([name, one]) => {
    const text =
      typeof one === 'object' ? (one === null ? words.latestChanges.nothing : JSON.stringify(one)) : String(one);
    return `${fieldWords(words, name).label} ${valueWords(words, text)}`;
  });
  return parts.join(', ');
}
