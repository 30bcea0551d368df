import { InvalidArgumentError } from 'commander';
import { InputError } from './failures.ts';
import { lengthOf } from './output.ts';

// What an operator types, checked before anything is opened. Each parser answers the value or throws
// with the rule; commander puts the name of the option in front.

const INT4_MAX = 2_147_483_647;
const MAX_PRICE = 9_999_999_999.99;
const MAX_DURATION_DAYS = 3_650;
const DAY_MS = 86_400_000;

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

const whole = (minimum: number, maximum: number) => (text: string) => {
  const value = /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new InvalidArgumentError(`Expected a whole number from ${minimum} to ${maximum}.`);
};

/** Id of a partner, event or ticket. */
export const parseId = whole(1, INT4_MAX);
export const parseCapacity = whole(0, INT4_MAX);
/** How many batches one redrive may take. */
export const parseLimit = whole(1, 100_000);
export const parseSeconds = whole(0, 86_400);
const parseRequestsPerSecond = whole(1, 1_000_000);

/** Requests per second, or "none" for no limit. */
export function parseRateLimit(text: string): number | 'none' {
  return text === 'none' ? text : parseRequestsPerSecond(text);
}

/** An amount with at most two decimals: more would be rounded silently by the column. */
export function parsePrice(text: string): number {
  const price = /^\d+(\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (price <= MAX_PRICE) return price;
  throw new InvalidArgumentError(`Expected an amount from 0 to ${MAX_PRICE} with at most 2 decimals.`);
}

const textOf = (minimum: number, maximum: number) => (text: string) => {
  const trimmed = text.trim();
  const length = lengthOf(trimmed);
  if (length >= minimum && length <= maximum && !/[\p{Cc}\p{Cs}]/u.test(trimmed)) return trimmed;
  throw new InvalidArgumentError(`Expected ${minimum} to ${maximum} characters, no control characters.`);
};

/** A name or title. Lengths count Unicode characters, as Postgres does. */
export const parseName = textOf(1, 255);
export const parseBenefits = textOf(0, 4_000);

export function parsePrefix(text: string): string {
  if (/^[A-Z][A-Z0-9]{1,7}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected 2 to 8 of A–Z and 0–9, starting with a letter.');
}

/** An instant. The offset is required: a sale must not start by the zone of whoever typed the command. */
export function parseTimestamp(text: string): Date {
  const match = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.exec(text);
  const instant = new Date(match ? text : Number.NaN);
  if (match && !Number.isNaN(instant.getTime()) && isCalendarDay(match[1]!)) return instant;
  throw new InvalidArgumentError('Expected a time like 2026-11-21T09:00:00Z or 2026-11-21T09:00:00+01:00.');
}

// Date reads 30 February as 2 March.
function isCalendarDay(day: string): boolean {
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
}

/** An edge of a sales window, or "none" for an open one. Not null: commander takes that for a missing value. */
export function parseSaleTime(text: string): Date | 'none' {
  return text === 'none' ? text : parseTimestamp(text);
}

/** A duration like 90d, 12h, 30m or 45s, in milliseconds. */
export function parseDurationMs(text: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  const durationMs = match ? Number(match[1]) * UNIT_MS[match[2]!]! : Number.NaN;
  if (durationMs <= MAX_DURATION_DAYS * DAY_MS) return durationMs;
  throw new InvalidArgumentError(
    `Expected a duration like 90d, 12h, 30m or 45s, at most ${MAX_DURATION_DAYS}d.`,
  );
}

/** When a key ends: an instant, a duration from now, or "never". A key that is born expired can only be a mistake. */
export function parseExpiry(text: string, now: Date): Date | 'never' {
  if (text === 'never') return text;
  const isDuration = /^\d+[a-z]$/i.test(text);
  const expiry = isDuration ? new Date(now.getTime() + parseDurationMs(text)) : parseTimestamp(text);
  if (expiry > now) return expiry;
  throw new InvalidArgumentError('Expected a time that is still to come.');
}

/** A key's id. Never repeats the text: whoever pastes the whole secret key should not find it in a log. */
export function parseKeyId(text: string): string {
  if (/^[0-9a-f]{16}$/.test(text)) return text;
  throw new InputError(
    text.startsWith('fg_')
      ? 'this is a secret key, not a key id: give only the 16 characters between "fg_" and the next "_"'
      : 'a key id is 16 of 0–9 and a–f; see floodgate key list',
  );
}

export function parseBatchId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected a UUID.');
}
