import { parseMaskedReference } from '@floodgate/contract';

/** Only this many terms are compared: each one is a look-up in the index. */
const TERM_LIMIT = 10;

const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** A part of a phone number, such as "+49", "(0)170" or "123-45". */
const DIGITS = /^[+(]*\d[\d().+/-]*$/;

/**
 * Returns the terms of a search: its words, and each row of digits as one term, because people write a phone
 * number with spaces. queries_of_term says what a term finds.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  let isNumber = false;
  // Full-width digits and spaces become ASCII. queries_of_term decides about the letters.
  for (const word of text.normalize('NFKC').split(/\s+/)) {
    if (!HAS_LETTER_OR_DIGIT.test(word)) continue;
    const continues = isNumber && DIGITS.test(word);
    isNumber = DIGITS.test(word);
    if (continues) terms.push(`${terms.pop()} ${word}`);
    else terms.push(word);
  }
  return terms.slice(0, TERM_LIMIT);
}

/** Any pass code will do: a reference without one names the registration, too. */
const WITHOUT_CODE = /^[A-Z][A-Z0-9]{1,7}-\d+-\d+$/;

/**
 * Returns the pass reference in a text, in upper case, with a mask if it has no pass code. Null: the text is
 * none.
 */
export function passReferenceIn(text: string): string | null {
  const reference = text
    .normalize('NFKC')
    .trim()
    .toUpperCase()
    .replace(/-?\.{3}$/, '');
  const masked = WITHOUT_CODE.test(reference) ? `${reference}-\u2026` : reference;
  return parseMaskedReference(masked) && masked;
}
