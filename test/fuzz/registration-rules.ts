import { domainToASCII } from 'node:url';

// Section by section what the documentation promises of a registration's fields, in plain loops: an opinion
// of its own, to be compared with the API's schemas and patterns.

/** What is wrong with a value, or null. `value` is what the body holds, undefined where it holds nothing. */
type Rule = (value: unknown) => string | null;

const freeText =
  (most: number): Rule =>
  (value) =>
    isAbsent(value) ? null : wrongText(isMarked(value) ? inner(value) : value, 0, most);

/** The rules of all fields. */
export const RULES: Readonly<Record<string, Rule>> = {
  fullName: (value) => {
    const name = typeof value === 'string' ? inner(value) : value;
    return wrongText(name, 1, 255) ?? (isBlank(name as string) ? 'nothing to see' : null);
  },
  emailAddress: (value) => {
    const address = typeof value === 'string' ? asciiOf(inner(value)) : value;
    return wrongText(address, 1, 254) ?? wrongAddress(address as string);
  },
  phoneNumber: (value) => (isAbsent(value) ? null : wrongPhoneNumber(value)),
  gender: freeText(32),
  tableOrSeat: freeText(64),
  organizedEventTicketID: (value) => {
    const isWhole = typeof value === 'number' && Math.floor(value) === value;
    return isWhole && value >= 1 && value <= 2_147_483_647 ? null : 'no whole number of 31 bits';
  },
  extraData1: freeText(1_000),
  extraData2: freeText(1_000),
  partnerReference: (value) => (isAbsent(value) ? null : wrongText(value, 1, 64)),
};

/** The names of the fields that break their rule. */
export function wrongFields(body: object): string[] {
  return Object.keys(RULES).filter((name) => RULES[name]!(valueOf(body, name)) !== null);
}

/** The body's own value: what it inherits was not sent. */
export function valueOf(body: object, name: string): unknown {
  return Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
}

/** What is not displayed, and the blank sign of Braille. */
const UNSEEN = /^(?:\s|\p{Default_Ignorable_Code_Point}|\u2800|[\ufff9-\ufffc])$/u;

/** The text without what cannot be seen at its ends. What belongs to its last letter may be cut as well: that is never wrong. */
function inner(text: string): string {
  const points = Array.from(text);
  while (points.length > 0 && UNSEEN.test(points[0]!)) points.shift();
  while (points.length > 0 && UNSEEN.test(points.at(-1)!)) points.pop();
  return points.join('');
}

const isBlank = (text: string) =>
  Array.from(text).every((point) => UNSEEN.test(point) || /^[\p{M}\p{Z}]$/u.test(point));

/** Whether a text has a mark of the text direction at one end, but for spaces. */
const isMarked = (value: unknown): value is string => {
  const points = typeof value === 'string' ? Array.from(value.trim()) : [];
  return [points[0], points.at(-1)].some((point) => point && TEXT_DIRECTION.has(point.codePointAt(0)!));
};

function asciiOf(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  const isOther = Array.from(domain).some((point) => point > '\u007f');
  if (!isOther || /[^-.0-9A-Za-z\u0080-\u{10ffff}]/u.test(domain)) return address;
  return address.slice(0, at + 1) + (domainToASCII(domain) || '?');
}

const isAbsent = (value: unknown) => value === undefined || value === null;

// The marks ALM, LRM and RLM, then embeddings, overrides, isolates and the ends of these.
const TEXT_DIRECTION = new Set([
  0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
]);

function wrongText(value: unknown, least: number, most: number): string | null {
  if (typeof value !== 'string') return 'no text';
  let characters = 0;
  for (const character of value) {
    const point = character.codePointAt(0)!;
    if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return 'a control character';
    if (TEXT_DIRECTION.has(point)) return 'a text direction character';
    if (point >= 0xd800 && point < 0xe000) return 'half a surrogate pair';
    characters += 1;
  }
  return characters >= least && characters <= most ? null : `${characters} characters`;
}

const LETTERS_AND_DIGITS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const consistsOf = (text: string, characters: string) =>
  Array.from(text).every((character) => characters.includes(character));

function wrongAddress(value: string): string | null {
  const [local, domain, ...more] = value.split('@');
  if (local === undefined || domain === undefined || more.length > 0) return 'not one @';
  if (local.length > 64 || !consistsOf(local, `${LETTERS_AND_DIGITS}.!#$%&'*+/=?^_\`{|}~-`))
    return 'local part';
  if (local.split('.').includes('')) return 'dots of the local part';
  const labels = domain.split('.');
  return labels.length >= 2 && labels.every(isLabel) ? null : 'domain';
}

function isLabel(label: string): boolean {
  const isLong = label.length < 1 || label.length > 63;
  return (
    !isLong && consistsOf(label, `${LETTERS_AND_DIGITS}-`) && !label.startsWith('-') && !label.endsWith('-')
  );
}

function wrongPhoneNumber(value: unknown): string | null {
  if (typeof value !== 'string') return 'no text';
  const points = Array.from(inner(value), (point) => point.codePointAt(0)!);
  const isWrong = (point: number) =>
    point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0xd800 && point < 0xe000);
  return points.length <= 32 && !points.some(isWrong) ? null : 'other characters, or too many';
}
