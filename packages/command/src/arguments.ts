import { InvalidArgumentError } from '@commander-js/extra-typings';

// Parsers for the operator's input. Each returns a value or throws an error that says what it expected.
// Commander adds the name of the option to the error. The action that receives a value checks the value's
// other rules.

const INT4_MAX = 2_147_483_647;
const MAX_DAYS = 3_650;
const DAY_MS = 86_400_000;

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

const whole = (minimum: number, maximum: number) => (text: string) => {
  const value = /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new InvalidArgumentError(`Expected a whole number from ${minimum} to ${maximum}.`);
};

/** Id of a partner, event or ticket. */
export const parseId = whole(1, INT4_MAX);
export const parseWhole = whole(0, INT4_MAX);
/** An offset in the journal. */
export const parseCursor = whole(0, Number.MAX_SAFE_INTEGER);
/** Limit of rows that a command processes or shows. */
export const parseLimit = whole(1, 100_000);
export const parseSeconds = whole(0, 86_400);
export const parseShards = whole(1, 1_024);

/** An amount of money without sign, exponent or separators of thousands. */
export function parsePrice(text: string) {
  if (/^\d+(\.\d{1,2})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected an amount like 12.50, with at most 2 decimals.');
}

/** A name, title or similar text. White space around it is removed, as a typing mistake. */
export const parseText = (text: string) => text.trim();

/** An instant. The offset is required: the time zone of the operator's machine must not decide when a sale starts. */
export function parseTimestamp(text: string) {
  try {
    return new Date(Temporal.Instant.from(text).epochMilliseconds);
  } catch {
    throw new InvalidArgumentError('Expected a time like 2026-11-21T09:00:00Z or 2026-11-21T09:00:00+01:00.');
  }
}

/** A duration like 90d, 12h, 30m or 45s, in milliseconds. */
export function parseDurationMs(text: string) {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  const durationMs = match ? Number(match[1]) * UNIT_MS[match[2]!]! : Number.NaN;
  if (durationMs <= MAX_DAYS * DAY_MS) return durationMs;
  throw new InvalidArgumentError(`Expected a duration like 90d, 12h, 30m or 45s, at most ${MAX_DAYS}d.`);
}

const fromNow = (direction: 1 | -1) => (text: string) =>
  /^\d+[a-z]$/i.test(text) ? new Date(Date.now() + direction * parseDurationMs(text)) : parseTimestamp(text);

/** An instant, or a duration before now. */
export const parseSince = fromNow(-1);

/** The operator's word for null. Commander treats null itself as a missing value. */
export const NONE = 'none';

const orNone =
  <Value>(parse: (text: string) => Value, word = NONE) =>
  (text: string) =>
    text === word ? NONE : parse(text);

/** A whole number from 0, or "none" for no limit. */
export const parseWholeOrNone = orNone(parseWhole);
/** An instant, or "none" (such as a sale that never ends). */
export const parseTimeOrNone = orNone(parseTimestamp);
/** Expiry of a key: an instant, a duration from now, or "never". */
export const parseExpiry = orNone(fromNow(1), 'never');
