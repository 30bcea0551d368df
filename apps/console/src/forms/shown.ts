import type { PageRequest } from '../add-page.ts';
import { facts, type Shown } from '../view/html.ts';
import { fieldWords, valueWords } from '../words/index.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns a value in words, with times in the zone of the page. */
export function shownValue(page: PageRequest, value: unknown, name = ''): Shown {
  const { format } = page;
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return numberText(page, value, name);
  if (value instanceof Date) return format.time(value);
  if (Array.isArray(value)) return format.list(value.map((one) => wordOf(page, one, name)));
  return typeof value === 'string' && TIME.test(value)
    ? format.time(new Date(value))
    : wordOf(page, value, name);
}

/** Returns whether the numbers of a field name things: they have no separators. */
export const isId = (field: string) => /^(id|revision|event)$|Ids?$/.test(field);

/** Returns whether the numbers of a field are amounts of money: they have decimals, also if these are zero. */
export const isMoney = (field: string) => field === 'price';

function numberText({ format }: PageRequest, value: number, name: string) {
  if (isId(name)) return String(value);
  return isMoney(name) || !Number.isInteger(value) ? format.money(value, null) : format.number(value);
}

const wordOf = ({ words }: PageRequest, value: unknown, name: string) =>
  valueWords(words, typeof value === 'string' ? value : JSON.stringify(value), name);

/** Returns these fields of a thing as names with their values. */
export const shownFacts = <Thing extends object>(
  page: PageRequest,
  thing: Thing,
  ...names: (keyof Thing & string)[]
) =>
  facts(
    ...names.map(
      (name) => [fieldWords(page.words, name).label, shownValue(page, thing[name], name)] as const,
    ),
  );
