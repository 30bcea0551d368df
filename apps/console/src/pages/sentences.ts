import { differencesOf, type AuditEntry } from '@floodgate/audit';
import { html } from 'ghtml';
import { isId, isMoney } from '../forms/shown.ts';
import type { Format } from '../view/format.ts';
import { Html, shownHtml, type Shown } from '../view/html.ts';
import { fieldWords, valueWords, type Sentence, type Words } from '../words/index.ts';
import { actorHtml, namesInList, roleText, SUBJECT_FIELDS, subjectHtml, type Names } from './subjects.ts';

// The sentences of the audit log are in the catalogue, by action. This fills their places.

/** The context for the words of an entry. */
export interface Telling {
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
  return filled(chosen === '{changes}' ? changesText(telling) : chosen, (place) => placeOf(place, telling));
}

/** Returns the sentence whose condition holds. */
function chosenOf(sentence: Sentence, entry: AuditEntry) {
  if (typeof sentence === 'string') return sentence;
  const [kind] = entry.subject.split(':', 1);
  const changes = changesIn(entry);
  const holds = (condition: string) => {
    if (condition === '' || condition === kind) return true;
    const [field, value] = condition.split('=');
    if (value === undefined) return Object.hasOwn(entry.after ?? {}, field!);
    return changes.length === 1 && changes[0]!.name === field && JSON.stringify(changes[0]!.is) === value;
  };
  return Object.entries(sentence).find(([condition]) => holds(condition))?.[1] ?? '';
}

/** Fields that follow from others, and tell nothing. */
const ASIDE = ['eventId', 'revision', 'id', 'disabledAt'];

/** Returns the fields that an entry changed, without those that tell nothing. */
export const changesIn = (entry: AuditEntry) =>
  differencesOf(entry).filter(({ name }) => !ASIDE.includes(name));

/** Returns a sentence about fields that changed, from what to what. */
function changesText({ entry, words }: Telling) {
  const { one, several, nothing } = words.audit;
  const changes = changesIn(entry);
  if (changes.length === 0) return nothing;
  return changes.length === 1 && !changes[0]!.isNew ? one : several;
}

const PLACE = /\{([^}]+)\}/g;

/** Returns a sentence with its places filled. */
function filled(sentence: string, valueOf: (place: string) => Shown) {
  const parts = sentence.split(PLACE);
  return new Html(
    parts.map((part, index) => (index % 2 === 0 ? html`${part}` : shownHtml(valueOf(part)))).join(''),
  );
}

/** The text at a place of a sentence. Other places have the value of a field. */
const PLACES: Partial<Record<string, (telling: Telling) => Shown>> = {
  who: ({ entry, names, words }) => actorHtml(entry.actor, names, words),
  what: ({ entry, names, words }) => subjectHtml(entry.subject, names, words),
  event: ({ entry, names, words }) => subjectHtml(`event:${eventOf(entry)}`, names, words),
  action: ({ entry }) => entry.action,
  field: ({ entry, words }) => fieldText(changesIn(entry)[0]!.name, words),
  was: (telling) => firstValue(telling, 'was'),
  is: (telling) => firstValue(telling, 'is'),
  list: (telling) => listHtml(telling),
};

const placeOf = (place: string, telling: Telling) => PLACES[place]?.(telling) ?? fieldValue(place, telling);

/** Returns the event of an entry. The roles of operators have it as a field. */
function eventOf({ eventId, before, after }: AuditEntry) {
  const named = after?.['event'] ?? before?.['event'];
  return eventId ?? (typeof named === 'number' ? named : 0);
}

function firstValue(telling: Telling, side: 'was' | 'is') {
  const { name, ...values } = changesIn(telling.entry)[0]!;
  return valueHtml(name, values[side], telling);
}

/** Returns a field of the state after a change, or before it. */
function fieldValue(place: string, telling: Telling) {
  const { entry, words } = telling;
  const isBefore = place.startsWith('was.');
  const name = isBefore ? place.slice('was.'.length) : place;
  const states = isBefore ? [entry.before, entry.after] : [entry.after, entry.before];
  const state = states.find((one) => one && Object.hasOwn(one, name));
  return state ? valueHtml(name, state[name], telling) : words.audit.empty;
}

/** Returns all changes of an entry in a list. */
function listHtml(telling: Telling) {
  const { entry, words, format } = telling;
  const texts = changesIn(entry).map(({ name, was, is, isNew }) => {
    const values: Partial<Record<string, Shown>> = {
      field: fieldText(name, words),
      was: valueHtml(name, was, telling),
      is: valueHtml(name, is, telling),
    };
    return filled(isNew ? words.audit.newInList : words.audit.ofList, (place) => values[place]).text;
  });
  // The list is made of marks: what is HTML already must not be escaped, nor joined as text.
  const marks = texts.map((_, index) => `<${index}>`);
  return new Html(format.list(marks).replaceAll(/<(\d+)>/g, (_, index: string) => texts[Number(index)]!));
}

/** Returns a field as a sentence names it. */
export const fieldText = (name: string, words: Words) =>
  Object.hasOwn(words.audit.fields, name)
    ? words.audit.fields[name]!
    : words.audit.other(fieldWords(words, name).label);

/** Returns a value of an entry in words. */
export function valueHtml(name: string, value: unknown, telling: Telling): Shown {
  const { names, words } = telling;
  if (value === null || value === undefined || value === '') return words.audit.empty;
  if (typeof value === 'string') return stringHtml(name, value, telling);
  if (typeof value === 'boolean') return valueWords(words, String(value));
  if (typeof value !== 'number')
    return namesInList(name, value, names, telling) ?? objectText(value, telling);
  return numberHtml(name, value, telling);
}

function numberHtml(name: string, value: number, { names, words, format }: Telling): Shown {
  const kind = SUBJECT_FIELDS[name];
  if (kind !== undefined) return subjectHtml(`${kind}:${value}`, names, words);
  // The entry does not say in which currency.
  if (isMoney(name)) return format.money(value, null);
  return isId(name) ? String(value) : format.number(value);
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

function stringHtml(name: string, value: string, { words, format }: Telling): Shown {
  if (name === 'role') return roleText(value, words);
  return INSTANT.test(value) ? format.time(new Date(value)) : valueWords(words, value);
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function objectText(value: unknown, { words, format }: Telling) {
  if (!Array.isArray(value)) return textOf(value);
  return value.length === 0 ? words.audit.empty : format.list(value.map(textOf));
}
