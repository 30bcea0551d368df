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

/** Returns the label and the hint of a field. Without texts of its own: its name in words, and its rule. */
export function fieldWords(words: Words, name: string, rule = ''): Required<FieldWords> {
  const { label = wordsOf(name), hint = ruleWords(words, rule) }: Partial<FieldWords> =
    words.fields[name] ?? {};
  return { label, hint };
}

/** Returns a rule of an operation in this language. A rule without a translation stays as it is. */
export const ruleWords = (words: Words, rule: string) => words.rules[rule] ?? rule;

/** Returns a word that stands for a state or a choice in this language. */
export const valueWords = (words: Words, value: string) => words.values[value] ?? value;

/** Returns the texts of an operation. Without texts of its own: its summary in English. */
export const operationWords = (
  words: Words,
  { id, summary }: { id: string; summary: string },
): OperationWords => words.operations[id] ?? { link: summary, title: summary, button: summary };
