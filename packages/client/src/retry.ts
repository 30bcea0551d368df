import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from './settings.ts';
import type { Answer, Attempt, Call, NoAnswer, Transport } from './transport.ts';

export interface Limits {
  signal?: AbortSignal | undefined;
  /** By performance.now(). By default `answerWithinMs` from now. */
  deadline?: number;
  /** Whether an earlier call with the same key had no final answer. */
  isAgain?: boolean;
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

/** How a call ended. Status 0: `code` is the reason why the outcome is unknown, and a change may have been carried out. */
export type Outcome = Answer | Pick<NoAnswer, 'isAnswer' | 'status' | 'code'>;

/**
 * Sends a call until it has a final answer or the deadline has passed. Waits for Retry-After plus a random time, because many callers retry at once. Rejects only if
 * the signal is aborted, with its reason.
 */
export async function sendUntilFinal(
  transport: Transport,
  { answerWithinMs, attemptWithinMs, onRetry }: Settings,
  call: Call,
  { signal: given, deadline = performance.now() + answerWithinMs, isAgain = false }: Limits,
): Promise<Outcome> {
  const signal = given ?? new AbortController().signal;
  let isUncertain = isAgain;
  let unexpected = 0;
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const withinMs = Math.max(1, Math.min(attemptWithinMs, deadline - performance.now()));
    const end = await transport.send(call, withinMs, signal);
    if (isFinal(end)) return end;
    signal.throwIfAborted();
    isUncertain ||= leavesOpen(call, end);
    unexpected += Number(end.code === UNEXPECTED);
    // Full jitter, beyond what the service asks for.
    const jitterMs = Math.random() * Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** (attempt - 1));
    const delayMs = end.retryAfterMs + jitterMs;
    const isOver = performance.now() + delayMs >= deadline || unexpected === UNEXPECTED_LIMIT;
    if (isOver || mustNotRepeat(call, end, transport.rateLimit())) return lastWord(end, isUncertain);
    report(onRetry, call, { code: end.code, attempt, delayMs });
    await delay(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function lastWord(end: Attempt, isUncertain: boolean): Outcome {
  if (end.isAnswer && !isUncertain) return end;
  return { isAnswer: false, status: 0, code: end.isAnswer ? `answered ${end.code}` : end.code };
}

function isFinal({ isAnswer, status, code }: Attempt): boolean {
  if (isAnswer) return !REFUSED_FOR_NOW.has(code) && !UNDECIDED.has(code);
  // The content of an unreadable success is unknown.
  return status >= 300 && status < 500 && !PASSING_STATUSES.has(status);
}

/** Returns whether this attempt may have carried out the change. */
function leavesOpen({ method }: Call, end: Attempt): boolean {
  return method !== undefined && (end.isAnswer ? UNDECIDED.has(end.code) : !end.isUnsent);
}

function mustNotRepeat(call: Call, end: Attempt, rateLimit: number | null): boolean {
  if (call.isOnce && leavesOpen(call, end)) return true;
  // A call larger than the limit per second can never succeed.
  return end.code === '50' && (call.registrations ?? 1) > (rateLimit ?? Infinity);
}

type Event = Omit<Parameters<Settings['onRetry']>[0], 'request'>;

function report(onRetry: Settings['onRetry'], call: Call, event: Event): void {
  const { method = 'GET', path, idempotencyKey, registrations } = call;
  const own = { ...(idempotencyKey && { idempotencyKey }), ...(registrations && { registrations }) };
  try {
    onRetry({ ...event, request: { method, path, ...own } });
  } catch {
    // An error in the caller's log must not lose the answer of a registration.
  }
}
