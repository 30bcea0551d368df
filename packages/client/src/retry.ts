import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from './options.ts';
import type { Attempt, Call, Transport } from './transport.ts';

export interface Limits {
  signal?: AbortSignal | undefined;
  /** In the time of performance.now(). Default: `answerWithinMs` from now. */
  deadline?: number;
  /** Whether an earlier call with the same key had no final answer. */
  isAgain?: boolean;
}

/** Nothing was reserved, so a retry is safe. After the deadline, this is the result. */
const REFUSED_FOR_NOW = new Set(['50', '90']);
/** Only a retry with the same Idempotency-Key returns the outcome. */
const UNDECIDED = new Set(['41', '91', '99']);
/** Temporary statuses of proxies. */
const PASSING_STATUSES = new Set([408, 425, 429]);
const BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 3_000;

/** Errors before anything is sent: the service has not received the call. */
const UNSENT = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * Retries a call until it has a final answer or the deadline has passed. Resolves to status 0 if the outcome
 * is unknown: the service may have made the change. The backoff is Retry-After plus random jitter, because
 * many callers retry at the same time. Rejects only if the signal is aborted, with its reason.
 */
export async function sendUntilFinal(transport: Transport, settings: Settings, call: Call, limits: Limits) {
  const { answerWithinMs, attemptWithinMs, onRetry } = settings;
  const { signal = new AbortController().signal, deadline = performance.now() + answerWithinMs } = limits;
  let isUncertain = limits.isAgain ?? false;
  let requestId: string | null = null;
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    const withinMs = Math.max(1, Math.min(attemptWithinMs, deadline - performance.now()));
    const end = await transport.send(call, withinMs, signal);
    if (isFinal(end)) return end;
    signal.throwIfAborted();
    isUncertain ||= leavesOpen(call, end);
    requestId = end.requestId ?? requestId;
    // Full jitter, in addition to Retry-After.
    const jitterMs = Math.random() * Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** (attempt - 1));
    const delayMs = end.retryAfterMs + jitterMs;
    const isOver = performance.now() + delayMs >= deadline;
    if (isOver || mustNotRepeat(call, end, transport.rateLimit()))
      return { ...lastWord(end, isUncertain), requestId };
    report(onRetry, call, end, attempt, delayMs);
    await delay(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function lastWord(end: Attempt, isUncertain: boolean) {
  if (end.responseCode === null) return { ...end, status: 0 };
  return isUncertain ? { ...end, status: 0, responseMessage: `answered ${end.responseCode}` } : end;
}

function isFinal({ status, responseCode: code, retryAfterMs }: Attempt) {
  // Without Retry-After, the call is larger than the rate limit and can never pass.
  if (code === '50' && retryAfterMs === 0) return true;
  if (code !== null) return !REFUSED_FOR_NOW.has(code) && !UNDECIDED.has(code);
  // A success with unreadable content is not final.
  return status >= 300 && status < 500 && !PASSING_STATUSES.has(status);
}

/** Returns whether the service may have made the change in this attempt. */
function leavesOpen({ method }: Call, { responseCode: code, responseMessage }: Attempt) {
  return method !== undefined && (code === null ? !UNSENT.test(responseMessage) : UNDECIDED.has(code));
}

function mustNotRepeat(call: Call, end: Attempt, rateLimit: number) {
  if (call.isOnce && leavesOpen(call, end)) return true;
  // A call larger than the rate limit can never succeed.
  return end.responseCode === '50' && (call.registrations ?? 1) > rateLimit;
}

function report(onRetry: Settings['onRetry'], call: Call, end: Attempt, attempt: number, delayMs: number) {
  const { method = 'GET', path, idempotencyKey, registrations } = call;
  const own = { ...(idempotencyKey && { idempotencyKey }), ...(registrations && { registrations }) };
  try {
    const request = { method, path, ...own };
    const code = end.responseCode ?? end.responseMessage;
    onRetry({ code, attempt, delayMs, requestId: end.requestId ?? null, request });
  } catch {
    // An error of the caller's function must not lose the answer to a registration.
  }
}
