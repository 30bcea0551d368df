const HOUR_MS = 3_600_000;

/**
 * The delay before a retry, by the number of failures before: 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h.
 * The last one repeats.
 */
const RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/** Keeps endpoints that failed together from being retried together. */
const JITTER = 0.2;

/** An endpoint without a delivery for this long is disabled. */
const DISABLE_AFTER_MS = 5 * 24 * HOUR_MS;

/** Shortest delay that a receiver can ask for. The longest is an hour. */
const MIN_RETRY_AFTER_MS = 1_000;

/** Returns the delay before the next attempt. `failures` counts those before the current one. */
export function retryDelayMs(failures: number, random = Math.random()) {
  const seconds = RETRY_AFTER_SECONDS[failures] ?? RETRY_AFTER_SECONDS.at(-1)!;
  return Math.round(seconds * 1_000 * (1 + JITTER * random));
}

/** Returns whether an endpoint that failed again is disabled. */
export const mustDisable = (failingSince: Date | null, now = Date.now()) =>
  failingSince !== null && now - +failingSince >= DISABLE_AFTER_MS;

/**
 * Returns the delay that the header Retry-After asks for, within bounds; null if it is missing or malformed.
 */
export function readRetryAfterMs(header = '', now = Date.now()) {
  const requestedMs = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  if (Number.isNaN(requestedMs)) return null;
  return Math.min(Math.max(requestedMs, MIN_RETRY_AFTER_MS), HOUR_MS);
}
