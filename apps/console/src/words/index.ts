import type { Language } from '../view/format.ts';
import { de } from './de/index.ts';
import { en } from './en/index.ts';

/** The texts of the console in one language. */
export type Words = typeof en;

/** A field of a form: its name, and an example or what it means. Without a hint, the rule is shown. */
export interface FieldWords {
  label: string;
  hint?: string;
}

/** The texts of an operation. */
export interface OperationWords {
  /** The link to its form. */
  link: string;
  /** The title of its form. */
  title: string;
  /** The button that does it. */
  button: string;
}

/** A sentence with {places}, or several with the condition of each. */
export type Sentence = string | Readonly<Record<string, string>>;

export const WORDS = { en, de } satisfies Record<Language, Words>;

/** Returns words in place of a name in camel case. */
export const wordsOf = (name: string) =>
  name
    .replace(/Ms$/, '')
    .replaceAll(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`)
    .replace(/^./, (first) => first.toUpperCase());

/**
 * Returns the label and the hint of a field. An operation can have texts of its own for it. Without texts: its
 * name in words, and its rule.
 */
export function fieldWords(
  words: Words,
  name: string,
  { rule = '', operationId = '' }: { rule?: string | undefined; operationId?: string } = {},
): Required<FieldWords> {
  const texts: Partial<FieldWords> = words.fields[`${operationId}.${name}`] ?? words.fields[name] ?? {};
  const { label = wordsOf(name), hint = ruleWords(words, rule) } = texts;
  return { label, hint };
}

/** Returns a rule or a reason of an operation in this language. One without a translation stays as it is. */
export const ruleWords = (words: Words, rule: string): string => withNumbers(words, translated(words, rule));

function translated({ rules, rulePatterns }: Words, rule: string) {
  const known = rules[rule];
  if (known !== undefined) return known;
  const [pattern, text] = rulePatterns.find(([one]) => one.test(rule)) ?? [];
  return pattern && text !== undefined ? rule.replace(pattern, text) : rule;
}

/** A large number of a text that is no part of a time, of a name or of a text in quotes. */
const LARGE = /(?<![\w.:,/"'-])\d{4,}(\.\d{1,2})?(?![\w:/"'-])/g;
/** Texts before the id of a thing, which is no number. */
const BEFORE_ID = /(?:event|partner|ticket|gate|device|line|Veranstaltung|Zeile):? $/;

/** Returns a text with its large numbers as the language writes them: "1,204" or "1.204". */
const withNumbers = ({ shell }: Words, text: string) =>
  text.replaceAll(LARGE, (number, _decimals, at: number) => {
    if (BEFORE_ID.test(text.slice(0, at))) return number;
    const [whole = '', decimals] = number.split('.');
    const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, shell.thousands);
    return decimals === undefined ? grouped : grouped + shell.decimal + decimals;
  });

/**
 * Returns a word that stands for a state or a choice in this language. A field can have a word of its own for
 * it.
 */
export const valueWords = ({ values }: Words, value: string, field = '') =>
  values[`${field}.${value}`] ?? values[value] ?? value;

/**
 * Returns the texts of an operation, or of a part of it: "ticketUpdate/capacity". Without texts of its own: its
 * summary in English.
 */
export const operationWords = (
  words: Words,
  { id, summary }: { id: string; summary: string },
  name = id,
): OperationWords =>
  words.operations[name] ?? words.operations[id] ?? { link: summary, title: summary, button: summary };
