import type { Retry } from './options.ts';
import type { Answer, AttemptEnd, Call, Transport } from './transport.ts';

/** What a call came to. */
export type Outcome =
  | Answer
  | { kind: 'foreign'; status: number }
  /** No final answer, and it may have been carried out. */
  | { kind: 'unknown'; reason: string };

export interface Patience {
  /** When to have come to an end, by performance.now(). */
  deadline: number;
  attemptWithinMs: number;
  signal?: AbortSignal | undefined;
  /** Whether it was sent before without a final answer. */
  isAgain?: boolean;
  onRetry: (retry: Retry) => void;
}

/** Nothing was reserved: to ask again is safe, and until then it is the answer. */
const REFUSED_FOR_NOW = new Set(['50', '90']);
/** Only an answer to the same Idempotency-Key tells. */
const UNDECIDED = new Set(['41', '91', '99']);
const UNEXPECTED = '99';
/** What nobody foresaw happens again, if it is not gone soon. */
const UNEXPECTED_LIMIT = 3;
/** Statuses of proxies that say nothing about the request. */
const PASSING_STATUSES = new Set([408, 425, 429]);
const BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 3_000;

/**
 * Sends a call until it has a final answer, or the time is over. Waits for as long as the service says, and for a random
 * time besides: everybody retries at once. Rejects with the reason of an abort, and never otherwise.
 */
export async function persist(transport: Transport, call: Call, patience: Patience): Promise<Outcome> {
  const { deadline, attemptWithinMs, signal } = patience;
  let isUncertain = patience.isAgain === true;
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
    report(patience, { code: codeOf(end), attempt: attempt + 1, delayMs: waitMs, request: requestOf(call) });
    await delay(waitMs, signal);
  }
}

function report({ onRetry }: Patience, retry: Retry): void {
  try {
    onRetry(retry);
  } catch {
    // A failing log must not leave a registration without its answer.
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
  // Of a success that cannot be read, nobody knows what it said.
  return end.status >= 300 && end.status < 500 && !PASSING_STATUSES.has(end.status);
}

const isUnexpected = (end: AttemptEnd) => end.kind === 'answered' && end.code === UNEXPECTED;

/** Whether it may have been carried out by this attempt. */
function leavesOpen({ method }: Call, end: AttemptEnd): boolean {
  if (method === 'GET') return false;
  if (end.kind === 'lost') return !end.isUnsent;
  return end.kind === 'foreign' || UNDECIDED.has(end.code);
}

function mustNotRepeat(call: Call, end: AttemptEnd): boolean {
  if (call.isOnce && leavesOpen(call, end)) return true;
  // A call for more than the limit of a second is refused whenever it is sent.
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

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
