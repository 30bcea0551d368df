const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delay before a retry, by the number of failures before. The last one repeats. */
const RETRY_AFTER_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Endpoints that failed together are not retried together. */
const JITTER = 0.2;

/** An endpoint without a delivery for this long is disabled. */
const GIVE_UP_AFTER_MS = 5 * 24 * HOUR_MS;

/** Bounds of what a receiver may ask for. */
const MIN_RETRY_AFTER_MS = SECOND_MS;
const MAX_RETRY_AFTER_MS = HOUR_MS;

/** Returns the delay before the next attempt. `failures` counts those before the current one. */
export function retryDelayMs(failures: number, random = Math.random()): number {
  const delayMs = RETRY_AFTER_MS[Math.min(failures, RETRY_AFTER_MS.length - 1)]!;
  return Math.round(delayMs * (1 + JITTER * random));
}

/** Returns whether an endpoint that failed again is disabled. */
export const isGivenUp = (failingSince: Date | null, now = Date.now()) =>
  failingSince !== null && now - failingSince.getTime() >= GIVE_UP_AFTER_MS;

/** Returns the delay that the header Retry-After asks for, within bounds; null if it is missing or malformed. */
export function readRetryAfterMs(header: string | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const asked = /^\d{1,9}$/.test(header) ? Number(header) * SECOND_MS : Date.parse(header) - now;
  if (Number.isNaN(asked)) return null;
  return Math.min(Math.max(asked, MIN_RETRY_AFTER_MS), MAX_RETRY_AFTER_MS);
}
