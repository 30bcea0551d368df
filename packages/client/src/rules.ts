// Generated from packages/contract/src/people.ts and the schema of Register For Event by `npm test -- contract -u`.
// The rules of names, e-mail addresses, phone numbers and the other texts about a person, and how the texts
// are stored. All callers pass through this file: the API and the operator's actions, and the client, which
// has a generated copy. It must import nothing. PERSON_EXAMPLES has an example of each rule; the guide shows
// them.
//
// A refusal loses a sale, so a text is refused only if it does harm:
// - Control characters: Postgres text cannot hold NUL, and the others break terminals and printers.
// - Text direction characters inside a text (such as U+202E): they disguise a name in a list. Messengers and
//   address books put them
//   around the texts that people copy, so there they are removed like spaces.
// - Lone surrogates: they have no UTF-8 form, so the stored text would differ from the text that was sent.
// - A name without a visible character: nobody can find it in a list or call it at a door.
// Rows are stored under the rules of their time and are never checked again.

const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';
/** The characters themselves, not escapes: Python has no \u in patterns. */
const DIRECTION = '\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069';
/**
 * Part of a character class: lone surrogates, which other languages cannot express. Published patterns omit
 * this part.
 */
export const NOT_PORTABLE = '\\ud800-\\udfff';
/**
 * Spaces, characters that are ignored or blank when displayed, and combining marks. Only characters below
 * U+10000 and marks of no script: a published pattern with more would not be read everywhere. normalizeName
 * knows all.
 */
const INVISIBLE =
  ' \u00A0\u00AD\u0300-\u036F\u0483-\u0489\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180F' +
  '\u1AB0-\u1AFF\u1DC0-\u1DFF\u2000-\u200F' +
  '\u2028-\u202F\u205F-\u206F\u20D0-\u20FF\u2800\u3000\u3164\uFE00-\uFE0F\uFE20-\uFE2F\uFEFF\uFFA0\uFFF0-\uFFFC';

const FORBIDDEN = CONTROL + DIRECTION + NOT_PORTABLE;
/** Pattern of a text without control and text direction characters. */
export const PRINTABLE = `^[^${FORBIDDEN}]*$`;
/** Pattern of a name: as PRINTABLE, with a visible character. The empty text matches, because minLength refuses it. */
export const NAME_PATTERN = `^(?:[${INVISIBLE}]*[^${FORBIDDEN}${INVISIBLE}][^${FORBIDDEN}]*)?$`;
/** Pattern of a phone number. People write extensions, slashes and several numbers, and only people read them. */
export const PHONE_PATTERN = `^[^${CONTROL}${NOT_PORTABLE}]*$`;

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** Pattern of an e-mail address as it is stored: the grammar of HTML's <input type=email>, with a dot in the domain. */
export const EMAIL_PATTERN = `^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+$`;
/** An address that matches this has too long a local part. EMAIL_PATTERN cannot express it. */
export const LONG_LOCAL_PART = '^[^@]{65}';

const EMAIL_LENGTH = 254;
const LOCAL_LENGTH = 64;
const EMAIL = new RegExp(EMAIL_PATTERN);

/**
 * Returns whether a text has the `email` format of the schemas. Checks the length first: a hostile input can
 * have any size.
 */
export function isEmailAddress(value: string): boolean {
  return value.length <= EMAIL_LENGTH && value.indexOf('@') <= LOCAL_LENGTH && EMAIL.test(value);
}

const NAME = new RegExp(NAME_PATTERN, 'u');

/** Returns whether a text can be a name, if it is not too long. */
export function isName(value: string): boolean {
  return value !== '' && NAME.test(value);
}

/** Longer texts are too long for every field, whatever is removed from their ends. They are only trimmed. */
const NORMALIZED_LENGTH = 4_096;

/** At either end, these are removed like spaces. */
const EDGE = /^[\s\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFC]$/u;
/**
 * Joiners, variation selectors and tags: at the end they can belong to the character before, as in flags, or
 * in Malayalam.
 */
const ATTACHED =
  /^(?:[\u180B-\u180D]|\u180F|\u200C|\u200D|[\uFE00-\uFE0F]|[\u{E0020}-\u{E007F}]|[\u{E0100}-\u{E01EF}])$/u;
/** A character to which nothing is attached: a letter with upper and lower case, a digit, punctuation. */
const BARE = /^[\p{Lu}\p{Ll}\p{Lt}\p{N}\p{P}\p{Z}]$/u;
const VISIBLE = /[^\s\p{Cc}\p{Cs}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFC]/u;

/** Graphic ASCII, Latin letters, Han and Hangul: characters that are visible and are not removed. */
const isPlain = (unit: number) =>
  (unit > 0x20 && unit < 0x7f) ||
  (unit >= 0xc0 && unit < 0x300) ||
  (unit >= 0x4e00 && unit < 0xa000) ||
  (unit >= 0xac00 && unit < 0xd7a4);

/**
 * Whether nothing can be removed from the ends of a text, as of nearly all. The rules are then decided
 * without patterns.
 */
const hasPlainEnds = (text: string) =>
  isPlain(text.charCodeAt(0)) && isPlain(text.charCodeAt(text.length - 1));

/** Returns the text without spaces and invisible marks at both ends. */
function trimMarks(text: string): string {
  if (hasPlainEnds(text)) return text;
  const trimmed = text.trim();
  if (trimmed.length > NORMALIZED_LENGTH || hasPlainEnds(trimmed)) return trimmed;
  const characters = Array.from(trimmed);
  const start = characters.findIndex((character) => !EDGE.test(character));
  return start < 0 ? '' : characters.slice(start, endOf(characters)).join('');
}

/** Returns the index after the last character that stays. There is one that cannot be removed. */
function endOf(characters: readonly string[]): number {
  let end = characters.length;
  while (EDGE.test(characters[end - 1]!)) end -= 1;
  if (BARE.test(characters[end - 1]!)) return end;
  while (end < characters.length && ATTACHED.test(characters[end]!)) end += 1;
  return end;
}

/** Returns a name as it is stored. Empty: nothing of it is visible. */
export function normalizeName(text: string): string {
  if (hasPlainEnds(text)) return text;
  const name = trimMarks(text);
  return VISIBLE.test(name) ? name : '';
}

const NOT_ASCII = /[^\0-\x7f]/;
/** ASCII that is no part of a domain. */
const NO_DOMAIN = /[\0-,/:-@[-`{-\x7f]/;

/** Returns a domain as browsers resolve it (UTS #46, as domainToASCII of Node.js). Empty: it is not valid. */
function domainToAscii(domain: string): string {
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return '';
  }
}

/**
 * Returns an e-mail address as it is stored: an internationalized domain in its ASCII form (xn--…), which
 * every mail server reads. The part before the @ is the mailbox's own, so it is not changed, and neither is
 * an address that is not one.
 */
export function normalizeEmail(text: string): string {
  const address = trimMarks(text);
  if (!NOT_ASCII.test(address) || address.length > NORMALIZED_LENGTH) return address;
  const at = address.lastIndexOf('@') + 1;
  const [local, domain] = [address.slice(0, at), address.slice(at)];
  if (at === 0 || NOT_ASCII.test(local) || NO_DOMAIN.test(domain)) return address;
  const ascii = domainToAscii(domain);
  // "１２７.1" would become an IP address.
  return /[a-z]/.test(ascii) ? local + ascii : address;
}

/** Returns a phone number as it is stored. */
export const normalizePhone = trimMarks;

const DIRECTED = new RegExp(`^[${DIRECTION}]|[${DIRECTION}]$`);

/**
 * Returns another text about a person as it is stored: trimmed if it has text direction characters at an end,
 * else unchanged.
 */
export function normalizeText(text: string): string {
  return !hasPlainEnds(text) && DIRECTED.test(text.trim()) ? trimMarks(text) : text;
}

type Normalize = (text: string) => string;

function store(person: Record<string, unknown>, name: string, value: unknown, normalize: Normalize) {
  if (typeof value !== 'string') return;
  const stored = normalize(value);
  if (stored !== value) person[name] = stored;
}

/**
 * Replaces the texts about a person by what is stored, before anything checks or compares them. Never throws,
 * whatever `fields` is.
 */
export function normalizePerson<Fields>(fields: Fields): Fields {
  if (typeof fields !== 'object' || fields === null) return fields;
  const person = fields as Record<string, unknown>;
  // One by one: a loop over the names is slower, and every registration passes here.
  store(person, 'fullName', person['fullName'], normalizeName);
  store(person, 'emailAddress', person['emailAddress'], normalizeEmail);
  store(person, 'phoneNumber', person['phoneNumber'], normalizePhone);
  store(person, 'gender', person['gender'], normalizeText);
  store(person, 'tableOrSeat', person['tableOrSeat'], normalizeText);
  store(person, 'extraData1', person['extraData1'], normalizeText);
  store(person, 'extraData2', person['extraData2'], normalizeText);
  return fields;
}

/** The rules of the fields of a registration, and the sentence with which the service refuses each. */
export const REGISTRATION_RULES = {
  fullName: {
    isRequired: true,
    type: ['string'],
    minLength: 1,
    maxLength: 255,
    pattern:
      '^(?:[ \u00a0\u00ad\u0300-\u036f\u0483-\u0489\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u1ab0-᫿\u1dc0-\u1dff\u2000-\u200f\u2028-\u202f\u205f-\u206f\u20d0-⃿\u2800\u3000\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff0-\ufffc]*[^\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff \u00a0\u00ad\u0300-\u036f\u0483-\u0489\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u1ab0-᫿\u1dc0-\u1dff\u2000-\u200f\u2028-\u202f\u205f-\u206f\u20d0-⃿\u2800\u3000\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff0-\ufffc][^\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]*)?$',
    sentence:
      'fullName: required, 1 to 255 characters after trimming, one of them visible, no control or text direction characters inside',
  },
  emailAddress: {
    isRequired: true,
    type: ['string'],
    maxLength: 254,
    format: 'email',
    sentence:
      'emailAddress: required, an e-mail address of at most 254 characters, with only ASCII before the @ and a dot in the domain after it',
  },
  phoneNumber: {
    isRequired: false,
    type: ['string', 'null'],
    maxLength: 32,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff]*$',
    sentence: 'phoneNumber: optional, at most 32 characters of any kind, no control characters',
  },
  gender: {
    isRequired: false,
    type: ['string', 'null'],
    maxLength: 32,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]*$',
    sentence: 'gender: optional free text of at most 32 characters, no control or text direction characters',
  },
  tableOrSeat: {
    isRequired: false,
    type: ['string', 'null'],
    maxLength: 64,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]*$',
    sentence:
      'tableOrSeat: optional free text of at most 64 characters, no control or text direction characters',
  },
  organizedEventTicketID: {
    isRequired: true,
    type: ['integer'],
    minimum: 1,
    maximum: 2147483647,
    sentence:
      'organizedEventTicketID: required, a whole number from 1 to 2147483647, the id of a ticket from Get Tickets',
  },
  extraData1: {
    isRequired: false,
    type: ['string', 'null'],
    maxLength: 1000,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]*$',
    sentence:
      'extraData1: optional free text of at most 1000 characters, no control or text direction characters',
  },
  extraData2: {
    isRequired: false,
    type: ['string', 'null'],
    maxLength: 1000,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]*$',
    sentence:
      'extraData2: optional free text of at most 1000 characters, no control or text direction characters',
  },
  partnerReference: {
    isRequired: false,
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 64,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\\ud800-\\udfff]*$',
    sentence:
      'partnerReference: optional, your own reference such as an order number: 1 to 64 characters, no control or text direction characters. Several registrations may have the same',
  },
} as const;
