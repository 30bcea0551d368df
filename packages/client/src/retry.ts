import { setTimeout as delay } from 'node:timers/promises';
import type { Retry } from './options.ts';
import type { Answer, AttemptEnd, Call, Transport } from './transport.ts';

/** How a call ended. */
export type Outcome =
  | Answer
  | { kind: 'foreign'; status: number }
  /** No final answer. A change may have been carried out. */
  | { kind: 'unknown'; reason: string };

export interface RetryLimits {
  /** By performance.now(). */
  deadline: number;
  attemptWithinMs: number;
  signal?: AbortSignal | undefined;
  /** Whether an earlier call with the same key had no final answer. */
  isAgain?: boolean;
  onRetry: (retry: Retry) => void;
}

/** Nothing was reserved. A retry is safe; if time runs out, this is the result. */
const REFUSED_FOR_NOW = new Set(['50', '90']);
/** Only a retry with the same Idempotency-Key can tell the outcome. */
const UNDECIDED = new Set(['41', '91', '99']);
const UNEXPECTED = '99';
/** An unexpected error that persists is not retried further. */
const UNEXPECTED_LIMIT = 3;
/** Temporary statuses of proxies. */
const PASSING_STATUSES = new Set([408, 425, 429]);
const BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 3_000;

/**
 * Sends a call until it has a final answer or the deadline has passed. Waits for Retry-After plus a random time, because many
 * callers retry at once. Rejects only if the signal is aborted, with its reason.
 */
export async function retry(transport: Transport, call: Call, limits: RetryLimits): Promise<Outcome> {
  const { deadline, attemptWithinMs, signal } = limits;
  let isUncertain = limits.isAgain === true;
  let unexpected = 0;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const withinMs = Math.max(1, Math.min(attemptWithinMs, deadline - performance.now()));
    const end = await transport.send(call, withinMs, signal);
    if (isFinal(end)) return end;
    signal?.throwIfAborted();
    isUncertain ||= leavesOpen(call, end);
    unexpected += Number(isUnexpected(end));
    const waitMs = waitBefore(attempt, end);
    const isOver = performance.now() + waitMs >= deadline || unexpected === UNEXPECTED_LIMIT;
    if (isOver || mustNotRepeat(call, end)) return lastWord(end, isUncertain);
    report(limits, { code: codeOf(end), attempt: attempt + 1, delayMs: waitMs, request: requestOf(call) });
    await delay(waitMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
  }
}

function report({ onRetry }: RetryLimits, event: Retry): void {
  try {
    onRetry(event);
  } catch {
    // An error in the caller's log must not lose the answer of a registration.
  }
}

const requestOf = ({ method, path, idempotencyKey, size }: Call): Retry['request'] => ({
  method,
  path,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
  ...(size !== undefined && { registrations: size }),
});

function isFinal(end: AttemptEnd): end is Exclude<AttemptEnd, { kind: 'lost' }> {
  if (end.kind === 'lost') return false;
  if (end.kind === 'answered') return !REFUSED_FOR_NOW.has(end.code) && !UNDECIDED.has(end.code);
  // The content of an unreadable success is unknown.
  return end.status >= 300 && end.status < 500 && !PASSING_STATUSES.has(end.status);
}

const isUnexpected = (end: AttemptEnd) => end.kind === 'answered' && end.code === UNEXPECTED;

/** Returns whether this attempt may have carried out the change. */
function leavesOpen({ method }: Call, end: AttemptEnd): boolean {
  if (method === 'GET') return false;
  if (end.kind === 'lost') return !end.isUnsent;
  return end.kind === 'foreign' || UNDECIDED.has(end.code);
}

function mustNotRepeat(call: Call, end: AttemptEnd): boolean {
  if (call.isOnce && leavesOpen(call, end)) return true;
  // A call larger than the limit per second can never succeed.
  const { size = 1 } = call;
  return end.kind === 'answered' && end.code === '50' && end.rateLimit !== null && size > end.rateLimit;
}

/** Full jitter, beyond what the service asks for. */
function waitBefore(attempt: number, end: AttemptEnd): number {
  const retryAfterMs = end.kind === 'lost' ? 0 : end.retryAfterMs;
  return retryAfterMs + Math.random() * Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** attempt);
}

function lastWord(end: AttemptEnd, isUncertain: boolean): Outcome {
  if (end.kind === 'answered' && !isUncertain) return end;
  return { kind: 'unknown', reason: reasonOf(end) };
}

function reasonOf(end: AttemptEnd): string {
  return end.kind === 'answered' ? `answered ${end.code}` : codeOf(end);
}

function codeOf(end: AttemptEnd): string {
  if (end.kind === 'lost') return end.reason;
  return end.kind === 'answered' ? end.code : `HTTP status ${end.status}`;
}
