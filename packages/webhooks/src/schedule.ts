const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** After how long a message is sent once more, by how many attempts were in vain before. From the last one on it stays so. */
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
/** So that those who failed together do not come back together. */
const JITTER = 0.2;

/** An endpoint that nothing could be delivered to for so long is given up. */
const GIVE_UP_AFTER_MS = 5 * 24 * HOUR_MS;

/** What a receiver that is overloaded may ask for. */
const RETRY_AFTER_LEAST_MS = SECOND_MS;
const RETRY_AFTER_MOST_MS = HOUR_MS;

/** Returns when to try again, after so many attempts in vain before this one. */
export function retryDelayMs(failures: number, random = Math.random()): number {
  const delayMs = RETRY_AFTER_MS[Math.min(failures, RETRY_AFTER_MS.length - 1)]!;
  return Math.round(delayMs * (1 + JITTER * random));
}

/** Returns whether an endpoint that has failed once more is to be given up. */
export const isGivenUp = (failingSince: Date | null, now = Date.now()) =>
  failingSince !== null && now - failingSince.getTime() >= GIVE_UP_AFTER_MS;

/** Returns how long the header Retry-After asks to wait, within bounds; null where it says nothing that can be understood. */
export function readRetryAfterMs(header: string | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const asked = /^\d{1,9}$/.test(header) ? Number(header) * SECOND_MS : Date.parse(header) - now;
  if (Number.isNaN(asked)) return null;
  return Math.min(Math.max(asked, RETRY_AFTER_LEAST_MS), RETRY_AFTER_MOST_MS);
}
