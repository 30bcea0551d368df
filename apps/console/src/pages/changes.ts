import { differencesOf, nameSubjects, type AuditEntry, type NamedSubject } from '@floodgate/audit';
import { maskPassCodes } from '@floodgate/contract';
import { HOUSE_PARTNER_ID } from '@floodgate/database';
import type { Operation } from '@floodgate/operators';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { undoHtml, undoOf } from '../forms/undo.ts';
import { mayOpen } from '../operations.ts';
import type { Format } from '../view/format.ts';
import { address, Html, link, shownHtml, type Shown } from '../view/html.ts';
import { fieldWords, valueWords, type Sentence, type Words } from '../words/index.ts';

/** The names of the things and persons in entries of the audit log. */
type Names = ReadonlyMap<string, NamedSubject>;

/** Fields of changes with the id of something that has a name. */
const SUBJECTS: Readonly<Record<string, string>> = {
  eventId: 'event',
  event: 'event',
  ticketId: 'ticket',
  partnerId: 'partner',
  grantedTo: 'partner',
};

/** The page of a thing, by its kind. */
const PAGES: Readonly<Record<string, (id: string, named: NamedSubject) => string>> = {
  event: (id) => `/events/${id}`,
  ticket: (id, { eventId }) => `/events/${eventId}/tickets/${id}`,
  partner: (id) => `/partners/${id}`,
  webhook: (id) => `/webhooks/${id}`,
  job: (id) => `/jobs/${id}`,
  gate: (_id, { eventId }) => `/events/${eventId}/door`,
  device: (_id, { eventId }) => `/events/${eventId}/door`,
  key: (_id, { partnerId }) => `/partners/${partnerId}`,
  operator: () => '/access',
  access: () => '/access',
  registration: (_id, { name }) => `/people/${encodeURIComponent(name)}`,
};

/** Resolves to the names in entries, all at once. Pass references have no code for those who may not see attendees. */
export async function namesIn({ db, may }: PageRequest, entries: readonly AuditEntry[]): Promise<Names> {
  const subjects = entries.flatMap(({ actor, subject, eventId, before, after }) => [
    subject,
    ...(actor.startsWith('partner:') ? [actor] : []),
    ...(eventId === null ? [] : [`event:${eventId}`]),
    ...[before, after].flatMap((state) =>
      Object.entries(SUBJECTS).flatMap(([field, kind]) => {
        const id = state?.[field];
        return typeof id === 'number' ? [`${kind}:${id}`] : [];
      }),
    ),
  ]);
  const found = await nameSubjects(db, subjects);
  const isOpen = may('attendees:read');
  return new Map(found.map((one) => [one.subject, isOpen ? one : { ...one, name: maskPassCodes(one.name) }]));
}

/** What the words of an entry need. */
interface Telling {
  entry: AuditEntry;
  names: Names;
  words: Words;
  format: Format;
}

/** Returns what somebody changed, as a sentence with links. */
export function sentenceOf(telling: Telling): Html {
  const { entry, words } = telling;
  const { actions, unknown } = words.audit;
  const sentence = Object.hasOwn(actions, entry.action) ? actions[entry.action]! : unknown;
  const chosen = chosenOf(sentence, entry);
  return filled(chosen === '{changes}' ? changesText(telling) : chosen, telling);
}

/** Returns the sentence whose condition holds. */
function chosenOf(sentence: Sentence, entry: AuditEntry) {
  if (typeof sentence === 'string') return sentence;
  const differences = differencesOf(entry);
  const [kind] = entry.subject.split(':', 1);
  const holds = (condition: string) => {
    if (condition === '' || condition === kind) return true;
    const [field, value] = condition.split('=');
    if (value === undefined) return Object.hasOwn(entry.after ?? {}, field!);
    const of = differences.find(({ name }) => name === field);
    const isOnly = differences.every(({ name }) => name === field || isAside(name));
    return of !== undefined && isOnly && String(of.is) === value;
  };
  return Object.entries(sentence).find(([condition]) => holds(condition))?.[1] ?? '';
}

/** Fields that follow from others, and tell nothing. */
const isAside = (name: string) => ['eventId', 'revision', 'id', 'disabledAt'].includes(name);

/** Returns a sentence about fields that changed, from what to what. */
function changesText({ entry, words }: Telling) {
  const { one, several, nothing } = words.audit;
  const changes = differencesOf(entry).filter(({ name }) => !isAside(name));
  if (changes.length === 0) return nothing;
  return changes.length === 1 && !changes[0]!.isNew ? one : several;
}

const PLACE = /\{([^}]+)\}/g;

/** Returns a sentence with its places filled. */
function filled(sentence: string, telling: Telling) {
  const parts = sentence.split(PLACE);
  return new Html(parts.map((part, index) => (index % 2 === 0 ? html`${part}` : shownHtml(placeOf(part, telling)))).join(''));
}

function placeOf(place: string, telling: Telling): Shown {
  const { entry, names, words } = telling;
  const [first] = differencesOf(entry).filter(({ name }) => !isAside(name));
  switch (place) {
    case 'who':
      return actorHtml(entry.actor, names, words);
    case 'what':
      return subjectHtml(entry.subject, names, words);
    case 'event':
      return subjectHtml(`event:${eventOf(entry)}`, names, words);
    case 'action':
      return entry.action;
    case 'field':
      return first && fieldText(first.name, words);
    case 'was':
      return first && valueHtml(first.name, first.was, telling);
    case 'is':
      return first && valueHtml(first.name, first.is, telling);
    case 'list':
      return listHtml(telling);
    default: {
      const isBefore = place.startsWith('was.');
      const name = isBefore ? place.slice('was.'.length) : place;
      const states = isBefore ? [entry.before, entry.after] : [entry.after, entry.before];
      const state = states.find((one) => one && Object.hasOwn(one, name));
      return state ? valueHtml(name, state[name], telling) : words.audit.empty;
    }
  }
}

const eventOf = ({ eventId, before, after }: AuditEntry) =>
  eventId ?? (after?.['event'] as number | undefined) ?? (before?.['event'] as number | undefined) ?? 0;

function listHtml(telling: Telling) {
  const { entry, words, format } = telling;
  const changes = differencesOf(entry).filter(({ name }) => !isAside(name));
  const texts = changes.map(({ name, was, is, isNew }) => {
    const values: Record<string, Shown> = {
      field: fieldText(name, words),
      was: valueHtml(name, was, telling),
      is: valueHtml(name, is, telling),
    };
    const parts = (isNew ? words.audit.newInList : words.audit.ofList).split(PLACE);
    return parts.map((part, index) => (index % 2 === 0 ? html`${part}` : shownHtml(values[part]))).join('');
  });
  return new Html(joined(texts, format));
}

/** Returns a list in words of what is HTML already. */
function joined(texts: readonly string[], format: Format) {
  const marks = texts.map((_, index) => `\u{0}${index}\u{0}`);
  return format.list(marks).replaceAll(/\0(\d+)\0/g, (_, index: string) => texts[Number(index)]!);
}

const fieldText = (name: string, words: Words) =>
  words.audit.fields[name] ?? words.audit.other(fieldWords(words, name).label);

/** Returns who changed something: a person, a token, a device, or a partner with a link. */
export function actorHtml(actor: string, names: Names, words: Words): Shown {
  if (actor.startsWith('token:')) return words.audit.token(actor.slice('token:'.length));
  if (actor.startsWith('device:')) return words.audit.device(actor.slice('device:'.length));
  return actor.startsWith('partner:') ? subjectHtml(actor, names, words) : actor;
}

/** Returns the name of a thing with a link. A thing that is gone has its kind and its id. */
export function subjectHtml(subject: string, names: Names, words: Words): Shown {
  const [kind = '', id = ''] = subject.split(/:(.*)/s);
  const named = names.get(subject);
  const { kinds, jobs } = words.audit;
  const kindText = Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds] : kind;
  if (!named) return `${kindText} ${id}`;
  const page = PAGES[kind]?.(id, named);
  return page === undefined ? nameOf(kind, named, words) : link(page, nameOf(kind, named, words, jobs));
}

function nameOf(kind: string, { name, subject }: NamedSubject, words: Words, jobs: Record<string, string> = {}) {
  if (kind === 'job') return jobs[name] ?? name;
  return subject === `partner:${HOUSE_PARTNER_ID}` ? words.partnerPages.house : name;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Returns a value of an entry in words. */
function valueHtml(name: string, value: unknown, { names, words, format }: Telling): Shown {
  if (value === null || value === undefined || value === '') return words.audit.empty;
  const kind = SUBJECTS[name];
  if (kind && typeof value === 'number') return subjectHtml(`${kind}:${value}`, names, words);
  if (name === 'role' && typeof value === 'string') return roleText(value, words);
  if (typeof value === 'number') return format.number(value);
  if (typeof value === 'boolean') return valueWords(words, String(value));
  if (typeof value === 'string') return INSTANT.test(value) ? format.time(new Date(value)) : valueWords(words, value);
  if (Array.isArray(value)) return value.length === 0 ? words.audit.empty : format.list(value.map(textOf));
  return textOf(value);
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns the name of a role. */
export const roleText = (role: string, { access }: Words) =>
  Object.hasOwn(access.roles, role) ? access.roles[role as keyof typeof access.roles] : role;

/** Returns a button that takes a change back, if something does, and the person may. */
export function undoOfEntry({ operations, operator, may, url, words }: PageRequest, entry: AuditEntry) {
  const operation = Object.values<Operation>(operations).find(({ action }) => action === entry.action);
  const undo = operation && undoOf(operations, operation, entry);
  return undo && mayOpen(operator, undo.operation, may) ? undoHtml(undo, url, words) : '';
}

/** Returns a list of changes in words: who did what, and when. `withUndo`: what can be taken back has a button. */
export function changesHtml(
  page: PageRequest,
  entries: readonly AuditEntry[],
  names: Names,
  { withUndo = false, empty = page.words.audit.none } = {},
) {
  const { words, format } = page;
  if (entries.length === 0) return html`<p class="none">${empty}</p>`;
  const latest = new Set<string>();
  const items = entries.map((entry) => {
    // An older change of the same thing is not what holds now.
    const key = `${entry.subject} ${entry.action}`;
    const isLatest = !latest.has(key);
    latest.add(key);
    const event = entry.eventId !== null && !entry.subject.startsWith('event:');
    return html`<li>
      <div class="change">
        <span
          >!${sentenceOf({ entry, names, words, format }).text},
          <span class="soft">!${format.ago(entry.at).text}</span></span
        >
        !${event ? html`<span class="soft">!${shownHtml(subjectHtml(`event:${entry.eventId}`, names, words))}</span>` : ''}
        <a href="${address('/audit', { subject: entry.subject })}">${words.audit.history}</a>
        !${withUndo && isLatest ? undoOfEntry(page, entry) : ''}
      </div>
      !${detailsHtml({ entry, names, words, format })}
    </li>`;
  });
  return html`<ul class="rows changes">
    !${items}
  </ul>`;
}

/** Returns every field that an entry has, folded away. */
function detailsHtml(telling: Telling) {
  const { entry, words } = telling;
  const changes = differencesOf(entry).filter(({ name }) => !isAside(name));
  if (changes.length === 0) return '';
  return html`<details>
    <summary>${words.audit.details}</summary>
    <dl>
      !${changes.map(
        ({ name, was, is, isNew }) =>
          html`<div>
            <dt>${fieldText(name, words)}</dt>
            <dd>
              !${isNew ? '' : html`!${shownHtml(valueHtml(name, was, telling))} → `}!${shownHtml(valueHtml(name, is, telling))}
            </dd>
          </div>`,
      )}
    </dl>
  </details>`;
}
