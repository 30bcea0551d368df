import { readAuditLog, type AuditEntry } from '@floodgate/audit';
import { eventsWith, type Operation } from '@floodgate/operators';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { changesIn } from '../pages/sentences.ts';
import { namesInList, namesOf, nameText, subjectsInField, type Names } from '../pages/subjects.ts';
import { address, type Shown } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { fieldWords, operationWords } from '../words/index.ts';
import { shownValue } from './shown.ts';
import { undoHtml, undoOf } from './undo.ts';

// The page after a form shows what the form has saved.

const LATEST_MS = 60_000;
/** Of one operation: one for each ticket that was taken off sale. */
const MOST_CHANGES = 50;

/** Resolves to the changes that an operator has just made by an operation, all of one moment. */
async function latestChanges({ db, operator }: PageRequest, { action }: Pick<Operation, 'action'>) {
  const events = eventsWith(operator, 'audit:read');
  if (action === undefined || events?.length === 0) return [];
  const since = new Date(Date.now() - LATEST_MS);
  const latest = await readAuditLog(db, { actor: operator.name, action, since, events, limit: MOST_CHANGES });
  return latest.filter(({ at }) => at.getTime() === latest[0]!.at.getTime());
}

/** Returns the form that was before a page, as its address names it, and its operation. */
function formBefore({ query, operations }: PageRequest) {
  const name = query['done'] ?? '';
  const operation = Object.values<Operation>(operations).find(({ id }) => id === name.split('/', 1)[0]);
  return operation && { name, operation };
}

/** Resolves to the changes that the top of a page shows: those of the form before it. */
export async function changesAtTop(page: PageRequest): Promise<readonly AuditEntry[]> {
  const before = formBefore(page);
  return before ? latestChanges(page, before.operation) : [];
}

/** Resolves to what the form named in the address of a page has changed. Empty: no form was before it. */
export async function doneHtml(page: PageRequest) {
  const before = formBefore(page);
  if (!before) return '';
  const { name, operation } = before;
  const { words } = page;
  const changes = await latestChanges(page, operation);
  const undo = changes[0] && (await undoOf(page, operation, changes[0]));
  const back = address(page.url.split('?', 1)[0]!);
  const names = await namesOf(page, changes.flatMap(subjectsOf));
  const about = aboutOf(page, changes, names);
  const saved = savedOf(page, changes, names);
  return html`<div class="done" role="status">
    <div class="actions">
      <strong>${words.forms.done}: ${operationWords(words, operation, name).title}</strong>
      !${about.map((one) => html`<span>· <bdi>${one}</bdi></span>`)}
      !${undo ? undoHtml(undo, back, words) : ''}
    </div>
    !${saved.length > 0 ? savedHtml(page, saved) : ''}
  </div>`;
}

/** Returns the partner that an allocation is for. */
function partnerOf({ before, after }: AuditEntry) {
  const allocation = Object(after?.['allocation'] ?? before?.['allocation']) as { partnerId?: number };
  return allocation.partnerId === undefined ? [] : [`partner:${allocation.partnerId}`];
}

/** Returns the things that a change is about or names in its settings. */
function subjectsOf(change: AuditEntry) {
  const inSettings = [change.before, change.after].flatMap((state) =>
    Object.entries(state ?? {}).flatMap(([field, value]) => subjectsInField(field, value)),
  );
  return [change.subject, ...partnerOf(change), ...inSettings];
}

/** The names of more would hide what was done. */
const MOST_NAMED = 3;

/** Returns the names of the things that changes are about. None of a thing that is gone, and of very many. */
function aboutOf({ words }: PageRequest, changes: readonly AuditEntry[], names: Names) {
  const subjects = changes.flatMap((change) => [change.subject, ...partnerOf(change)]);
  const known = [...new Set(subjects)].flatMap((subject) => {
    const named = names.get(subject);
    return named ? [nameText(named, words)] : [];
  });
  return known.length > MOST_NAMED ? [] : known;
}

interface Saved {
  name: string;
  was: Shown;
  is: Shown;
  isNew: boolean;
}

const FLAT = ['reserved', 'cap', 'releasesAt'];

/** Notes of a change that are no settings: the page says in words what follows from them. */
const NOTED = new Set(['outdatedEmails']);

/** Returns the settings that changes differ in. Those of an allocation are each one. */
function differences(change: AuditEntry) {
  const settings = changesIn(change).filter(({ name }) => !NOTED.has(name));
  return settings.flatMap((one) => {
    if (one.name !== 'allocation') return [one];
    const [was, is] = [one.was, one.is].map((state) => new Map(Object.entries(Object(state) as object)));
    return FLAT.map((name) => ({
      name,
      was: was!.get(name) ?? null,
      is: is!.get(name) ?? null,
      isNew: false,
    })).filter((flat) => flat.was !== flat.is);
  });
}

/** Returns what changes have saved, each once, with names in place of ids. */
function savedOf(page: PageRequest, changes: readonly AuditEntry[], names: Names): Saved[] {
  const all = changes.flatMap(differences);
  const each = new Map(all.map((one) => [JSON.stringify([one.name, one.was, one.is]), one]));
  return [...each.values()].map(({ name, was, is, isNew }) => ({
    name,
    was: savedValue(page, names, name, was),
    is: savedValue(page, names, name, is),
    isNew,
  }));
}

/** Returns a value with the names of things in place of their ids. */
function savedValue(page: PageRequest, names: Names, field: string, value: unknown): Shown {
  const [subject] = subjectsInField(field, value);
  if (subject === undefined) return shownValue(page, value, field);
  const named = names.get(subject);
  return namesInList(field, value, names, page) ?? (named ? nameText(named, page.words) : subject);
}

function savedHtml({ words, format }: PageRequest, saved: readonly Saved[]) {
  return listing({
    caption: words.forms.setting,
    things: saved,
    empty: '',
    format,
    columns: [
      { head: words.forms.setting, cell: ({ name }) => fieldWords(words, name).label },
      saved.some(({ isNew }) => !isNew) && {
        head: words.forms.before,
        cell: ({ was, isNew }) => (isNew ? null : was),
      },
      { head: words.forms.after, cell: ({ is }) => is },
    ],
  });
}
