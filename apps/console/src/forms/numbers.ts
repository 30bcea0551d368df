import type { Language } from '../view/format.ts';

/** Between the thousands of a number, as each language writes it. */
const GROUPED: Readonly<Record<Language, RegExp>> = {
  en: /^[1-9]\d{0,2}(,\d{3})+(?=\.\d{1,2}$|$)/,
  de: /^[1-9]\d{0,2}(\.\d{3})+(?=,\d{1,2}$|$)/,
};

/**
 * Returns the number that a person of this language typed, as operations take it: "5000" for "5.000" in German
 * and for "5,000" in English. A text that means another number in that language stays as it is, and is refused.
 */
export const wholeText = (text: string, language: Language) =>
  text.trim().replace(GROUPED[language], (grouped) => grouped.replaceAll(/\D/g, ''));

/** Returns the amount that a person of this language typed, as operations take it: "12.50" for "12,50". */
export const amountText = (text: string, language: Language) =>
  wholeText(text, language).replace(/^(\d+),(\d{1,2})$/, '$1.$2');
