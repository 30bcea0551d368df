const TOKEN = /^FG2\.[0-9A-V]{132}$/;
const REFERENCE = /^[A-Z][A-Z0-9]{1,7}-([1-9]\d{0,9})-[1-9]\d{0,15}-[1-9]\d{9}$/;
/** Some scanners put the kind of the code in front, such as `]Q1`. */
const KIND = /^.{1,4}(?=FG2\.)/;

/** The zeros of the digits that keyboards of other scripts type: Arabic, Persian, Devanagari, Bengali, Thai. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50];

/** @param {string} digit */
function latinDigit(digit) {
  const code = digit.codePointAt(0) ?? 0;
  const zero = ZEROS.find((one) => code >= one && code < one + 10);
  return zero === undefined ? digit : String(code - zero);
}

/**
 * Returns the event that a pass reference names. Null: the text is no pass reference.
 * @param {string} text
 */
export function eventOfReference(text) {
  const [, eventID] = REFERENCE.exec(text) ?? [];
  return eventID === undefined ? null : Number(eventID);
}

/**
 * Whether a text has the form of a pass or a pass reference.
 * @param {string} text
 */
export const isPassLike = (text) => TOKEN.test(text) || REFERENCE.test(text);

/**
 * Returns the text of a pass or a pass reference in its only spelling: people type small letters, spaces,
 * other dashes and digits of other scripts. A text that is neither is returned as it is.
 * @param {string} text
 */
export function spelled(text) {
  const plain = text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{Cf}\p{Z}\s]/gu, '')
    .replaceAll(/[\p{Pd}\u2212]/gu, '-')
    .replaceAll(/\p{Nd}/gu, latinDigit)
    .replace(KIND, '');
  return isPassLike(plain) ? plain : text;
}

/**
 * Returns the first text that is like a pass, in its only spelling, otherwise the first text.
 * @param {string[]} texts
 */
export function choosePass(texts) {
  const all = texts.map(spelled);
  return all.find(isPassLike) ?? all[0];
}
