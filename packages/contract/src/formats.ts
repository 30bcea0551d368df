/** Pattern of a UUID for schemas: with hyphens, in lower case as Postgres prints it. */
export const UUID_PATTERN = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const UUID = new RegExp(UUID_PATTERN, 'i');

/** Returns whether the value is a UUID, in either case. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

const INVISIBLE =
  /[\p{Cf}\p{M}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffc]|(?! )\p{Zs}/gu;

/** Returns a JSON text, or a part of a program, with escapes for the characters that an editor does not show. */
export function escapeInvisible(text: string) {
  return text.replaceAll(INVISIBLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Returns a time in the format of the API: milliseconds, always UTC, with an explicit offset. */
export function formatTimestamp(instant: Date) {
  return instant.toISOString().replace('Z', '+00:00');
}

const INT4_MAX = 2_147_483_647;
const PASS_REFERENCE = /^([A-Z][A-Z0-9]{1,7})-([1-9][0-9]{0,9})-([1-9][0-9]{0,15})-([1-9][0-9]{9})$/;

/**
 * The parts of a pass reference, `<prefix>-<eventId>-<serial>-<passCode>`. The serial is unique over all
 * events. The pass code has ten random digits.
 */
type PassReferenceParts = Record<'eventId' | 'serial' | 'passCode', number> & { prefix: string };

export function formatPassReference({ prefix, eventId, serial, passCode }: PassReferenceParts) {
  return `${prefix}-${eventId}-${serial}-${passCode}`;
}

/** Returns the parts of a pass reference, or null if the text is not a pass reference. */
export function parsePassReference(text: string): PassReferenceParts | null {
  const [, prefix = '', ...numbers] = PASS_REFERENCE.exec(text) ?? [];
  const [eventId, serial, passCode] = numbers.map(Number) as [number, number, number];
  const canBe = Number.isSafeInteger(serial) && eventId <= INT4_MAX;
  return canBe ? { prefix, eventId, serial, passCode } : null;
}

const IN_TEXT = /\b([A-Z][A-Z0-9]{1,7}-[1-9][0-9]{0,9}-[1-9][0-9]{0,15}-)[1-9][0-9]{9}\b/g;
/** Stands for the pass code. */
const MASK = '\u2026';

/**
 * Returns the text without the codes of pass references, `GALA-1001-1-…`: with its code, a pass reference
 * opens the door.
 */
export const maskPassCodes = (text: string) => text.replaceAll(IN_TEXT, `$1${MASK}`);

/** Returns what a pass reference names, without its code. It can be masked. Null: the text is none. */
export function parseMaskedReference(text: string): Omit<PassReferenceParts, 'passCode'> | null {
  return parsePassReference(text.endsWith(`-${MASK}`) ? text.replace(MASK, '1000000000') : text);
}
