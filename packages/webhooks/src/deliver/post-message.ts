import type { WebhookAttempt } from '@floodgate/contract';
import type { Mode } from '@floodgate/database';
import { recordSpan } from '@floodgate/service';
import type { Dispatcher } from 'undici';
import type { EndpointToDeliver } from '../endpoints.ts';
import { forbidden } from './checked-agent.ts';
import type { Message } from './messages.ts';
import { readRetryAfterMs } from './retry-schedule.ts';

/** The result of one attempt to send a message. */
export interface Attempt {
  outcome: WebhookAttempt['outcome'];
  tookMs: number;
  /** Null if there was no answer. */
  httpStatus: number | null;
  /** Why there was no answer: a code, such as ECONNREFUSED. */
  error: string | null;
  /** How long the receiver asked to wait. */
  retryAfterMs: number | null;
}

const ATTEMPT_TIMEOUT_MS = 15_000;
/** A longer answer closes its connection. */
const ANSWER_LIMIT_BYTES = 4_096;

const GONE = 410;
/** With Retry-After, these statuses mean that the receiver is overloaded. */
const BUSY = new Set([429, 502, 503, 504]);

export interface Sender {
  /** The HTTP agent, by the mode of the event. */
  agents: Record<Mode, Dispatcher>;
  /**
   * Whether messages of test events are sent: in development, to receivers on the same machine or network.
   */
  sendsTestEvents: boolean;
  onAttempt: (outcome: Attempt['outcome'], entries?: number) => void;
}

/** Returns why nothing is sent to an endpoint; null if messages are sent. */
export function obstacleOf({ hasAccess, mode }: EndpointToDeliver, { sendsTestEvents }: Sender) {
  if (!hasAccess) return 'NO_ACCESS';
  return mode === 'test' && !sendsTestEvents ? 'TEST_EVENT' : null;
}

type Content = Pick<Message, 'id' | 'body'> & Partial<Message>;

/**
 * Signs and sends a message once. Never rejects: a failure is an outcome. `signal` is aborted when the
 * process stops.
 */
export async function postMessage(
  sender: Sender,
  endpoint: EndpointToDeliver,
  message: Content,
  signal: AbortSignal,
): Promise<Attempt> {
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
  const answer = await answerTo(sender, endpoint, message, AbortSignal.any([signal, deadline])).catch(
    (error: SendError) => ({
      outcome: signal.aborted ? ('stopped' as const) : ('failed' as const),
      httpStatus: null,
      error: deadline.aborted ? 'TIMEOUT' : nameOf(error),
      retryAfterMs: null,
    }),
  );
  const attempt = { ...answer, tookMs: Math.round(performance.now() - startedAt) };
  const { outcome } = attempt;
  sender.onAttempt(outcome, message.entries);
  for (const batchId of message.batchIds ?? [])
    recordSpan({ name: 'webhook', batchId, startedAt, attributes: { outcome, messageId: message.id } });
  return attempt;
}

async function answerTo(
  sender: Sender,
  endpoint: EndpointToDeliver,
  { id, body }: Content,
  signal: AbortSignal,
): Promise<Omit<Attempt, 'tookMs'>> {
  const obstacle = obstacleOf(endpoint, sender);
  if (obstacle) throw forbidden(obstacle);
  const { url, mode, sign } = endpoint;
  const timestamp = Math.floor(Date.now() / 1_000);
  const { origin, pathname, search } = new URL(url);
  const answer = await sender.agents[mode].request({
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
    signal,
  });
  // Only the status is used.
  await answer.body.dump({ limit: ANSWER_LIMIT_BYTES }).catch(() => {});
  const { statusCode: httpStatus, headers } = answer;
  const [retryAfter] = [headers['retry-after']].flat();
  const retryAfterMs = BUSY.has(httpStatus) ? readRetryAfterMs(retryAfter) : null;
  return { outcome: outcomeOf(httpStatus, retryAfterMs), httpStatus, error: null, retryAfterMs };
}

function outcomeOf(httpStatus: number, retryAfterMs: number | null) {
  if (httpStatus >= 200 && httpStatus < 300) return 'delivered';
  if (httpStatus === GONE) return 'gone';
  return retryAfterMs === null ? 'refused' : 'slowed';
}

type SendError = Error & { code?: unknown; cause?: { code?: unknown } };

/** Returns the code of an error. Its message may contain the URL, and with it secrets of the partner. */
function nameOf({ code, cause, name }: SendError) {
  const texts = [code, cause?.code, name].filter((text) => typeof text === 'string');
  return texts.find((text) => /^\w{1,60}$/.test(text)) ?? 'UNKNOWN';
}
