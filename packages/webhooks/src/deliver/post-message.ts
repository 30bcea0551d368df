import { performance } from 'node:perf_hooks';
import type { WebhookAttempt } from '@floodgate/contract';
import type { Dispatcher } from 'undici';
import type { Message } from './build-message.ts';
import { readRetryAfterMs } from './retry-schedule.ts';
import type { Signer } from '../signatures.ts';

/** `slowed`: the receiver asked to wait. `stopped`: this process stopped, so the result is unknown. */
export type Outcome = WebhookAttempt['outcome'];

export interface Attempt {
  outcome: Outcome;
  tookMs: number;
  /** Null if there was no answer. */
  httpStatus: number | null;
  /** Why there was no answer: a code, such as ECONNREFUSED. */
  error: string | null;
  /** How long the receiver asked to wait. */
  retryAfterMs: number | null;
}

const ATTEMPT_TIMEOUT_MS = 15_000;
/** An answer that is longer closes its connection. */
const ANSWER_LIMIT_BYTES = 4_096;

const GONE = 410;
/** With Retry-After these mean that the receiver is overloaded. */
const BUSY = new Set([429, 502, 503, 504]);

export interface Post {
  url: string;
  message: Pick<Message, 'id' | 'body'>;
  sign: Signer;
  dispatcher: Dispatcher;
  /** Aborted when the process stops. */
  signal: AbortSignal;
}

/** Signs and sends a message once. Never rejects: a failure is an outcome. */
export async function postMessage({
  url,
  message: { id, body },
  sign,
  dispatcher,
  signal,
}: Post): Promise<Attempt> {
  const startedAt = performance.now();
  const tookMs = () => Math.round(performance.now() - startedAt);
  const timestamp = Math.floor(Date.now() / 1_000);
  const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
  try {
    const { origin, pathname, search } = new URL(url);
    const answer = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Floodgate-Webhooks/1',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': sign(id, timestamp, body),
      },
      body,
      signal: AbortSignal.any([signal, deadline]),
      headersTimeout: ATTEMPT_TIMEOUT_MS,
      bodyTimeout: ATTEMPT_TIMEOUT_MS,
    });
    // Only the status is used.
    await answer.body.dump({ limit: ANSWER_LIMIT_BYTES }).catch(() => {});
    const retryAfter = answer.headers['retry-after'];
    return { tookMs: tookMs(), error: null, ...judge(answer.statusCode, [retryAfter].flat()[0]) };
  } catch (error) {
    const outcome = signal.aborted ? 'stopped' : 'failed';
    const name = deadline.aborted ? 'TIMEOUT' : nameOf(error);
    return { outcome, tookMs: tookMs(), httpStatus: null, error: name, retryAfterMs: null };
  }
}

function judge(httpStatus: number, retryAfter: string | undefined): Omit<Attempt, 'tookMs' | 'error'> {
  const retryAfterMs = BUSY.has(httpStatus) ? readRetryAfterMs(retryAfter) : null;
  if (httpStatus >= 200 && httpStatus < 300) return { outcome: 'delivered', httpStatus, retryAfterMs };
  if (httpStatus === GONE) return { outcome: 'gone', httpStatus, retryAfterMs };
  return { outcome: retryAfterMs === null ? 'refused' : 'slowed', httpStatus, retryAfterMs };
}

/** Returns the code of an error. Its message may contain the URL, and with it secrets of the partner. */
function nameOf(error: unknown): string {
  const { code, name, cause } = (error ?? {}) as { code?: unknown; name?: unknown; cause?: unknown };
  for (const text of [code, (cause as { code?: unknown } | undefined)?.code, name])
    if (typeof text === 'string' && /^\w{1,60}$/.test(text)) return text;
  return 'UNKNOWN';
}
