import { differencesOf, type AuditEntry } from '@floodgate/audit';
import type { Operation } from '@floodgate/operators';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { changesAtTop } from '../forms/done.ts';
import { undoHtml, undoOf } from '../forms/undo.ts';
import { address, shownHtml } from '../view/html.ts';
import { changesIn, fieldText, sentenceOf, valueHtml, type Telling } from './sentences.ts';
import { subjectHtml, type Names } from './subjects.ts';

/** How a list of changes looks. */
interface ChangesOptions {
  /** A change that can be taken back has a button. */
  withUndo?: boolean;
  /** In place of a list without changes. */
  empty?: string;
}

/** Returns a list of changes in words: who did what, and when. */
export async function changesHtml(
  page: PageRequest,
  entries: readonly AuditEntry[],
  names: Names,
  { withUndo = false, empty = page.words.audit.noneYet }: ChangesOptions = {},
) {
  if (entries.length === 0) return html`<p class="none">${empty}</p>`;
  // After a form, the top of the page has the button.
  const atTop = new Set((withUndo ? await changesAtTop(page) : []).map(({ id }) => id));
  const seen = new Set<string>();
  const items = entries.map(async (entry) => {
    // An older change of the same setting is not what holds now.
    const settings = settingsOf(entry);
    const isLatest = settings.every((setting) => !seen.has(setting));
    for (const setting of settings) seen.add(setting);
    return changeHtml(page, entry, names, withUndo && isLatest && !atTop.has(entry.id));
  });
  return html`<ul class="rows changes">
    !${await Promise.all(items)}
  </ul>`;
}

/** Returns the settings of a thing that a change is about, or the change itself if it is about none. */
function settingsOf({ subject, action, ...change }: AuditEntry) {
  const names = differencesOf(change).map(({ name }) => name);
  return (names.length > 0 ? names : ['']).map((name) => `${subject} ${action} ${name}`);
}

async function changeHtml(page: PageRequest, entry: AuditEntry, names: Names, withUndo: boolean) {
  const { words, format } = page;
  const telling = { entry, names, words, format };
  const event = entry.eventId !== null && !entry.subject.startsWith('event:') && `event:${entry.eventId}`;
  return html`<li>
    <div class="change">
      <span>
        !${sentenceOf(telling).text},
        <span class="soft">!${format.ago(entry.at).text}</span>
      </span>
      !${event ? html`<span class="soft">!${shownHtml(subjectHtml(event, names, words))}</span>` : ''}
      <a href="${address('/audit', { subject: entry.subject })}">${words.audit.history}</a>
      !${withUndo ? await undoOfEntry(page, entry) : ''}
    </div>
    !${detailsHtml(telling)}
  </li>`;
}

/** Returns a button that takes a change back, if something does, and the person may. */
async function undoOfEntry(page: PageRequest, entry: AuditEntry) {
  const operation = Object.values<Operation>(page.operations).find(({ action }) => action === entry.action);
  const undo = operation && (await undoOf(page, operation, entry));
  if (!undo) return '';
  const changed = changesIn(entry).map(({ name }) => fieldText(name, page.words));
  return undoHtml(undo, page.url, page.words, changed.join(', ') || undefined);
}

/** Returns every field that an entry changed, folded away. */
function detailsHtml(telling: Telling) {
  const { entry, words } = telling;
  const changes = changesIn(entry);
  if (changes.length === 0) return '';
  const before = (name: string, was: unknown) => html`!${shownHtml(valueHtml(name, was, telling))} → `;
  return html`<details>
    <summary>${words.audit.details}</summary>
    <dl>
      !${changes.map(
        ({ name, was, is, isNew }) =>
          html`<div>
            <dt>${fieldText(name, words)}</dt>
            <dd>!${isNew ? '' : before(name, was)}!${shownHtml(valueHtml(name, is, telling))}</dd>
          </div>`,
      )}
    </dl>
  </details>`;
}
