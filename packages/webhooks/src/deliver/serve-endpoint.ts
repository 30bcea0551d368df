import type { Webhook } from '@floodgate/contract';
import { inTransaction, type Database } from '@floodgate/database';
import {
  advance,
  disable,
  release,
  retryLater,
  throttle,
  type Consumer,
  type ConsumersOptions,
  type RunEnd,
} from '@floodgate/journal';
import type { Logger } from '@floodgate/service';
import { loadEndpoint, updateEndpoint, type EndpointToDeliver } from '../endpoints.ts';
import { addNotice } from '../notices.ts';
import { recordAttempt, recordDelivered } from './attempts.ts';
import { keepRefused, readMessages, type Message, type MessageReader } from './messages.ts';
import { obstacleOf, postMessage, type Attempt, type Sender } from './post-message.ts';
import { mustDisable, retryDelayMs } from './retry-schedule.ts';

// read range ──▶ build message ──▶ sign, post ──▶ record ──▶ next message
//                                     └─ not delivered ──▶ retry later, throttle or disable.
//                                                         The range stays in flight.

/** An endpoint is served for this long before other endpoints are served. */
const SLICE_MS = 1_000;
/** An endpoint is slow if its last attempt took longer. */
const SLOW_MS = 1_000;
/** Delay before a slow endpoint is tried again if too many others are slow. */
const AFTER_SLOW_MS = 1_000;
/** How often a webhook without access is checked for a new grant or key. */
const CHECK_ACCESS_AFTER_MS = 5_000;

/** The dependencies of all deliveries of webhooks. */
export interface WebhookDeliveryOptions {
  db: Database;
  log: Logger;
  sender: Sender;
}

interface Run extends WebhookDeliveryOptions {
  consumer: Consumer;
  endpoint: EndpointToDeliver;
  /** Aborted when the process stops. */
  signal: AbortSignal;
}

/**
 * Returns the run of a webhook's consumer: it delivers to the endpoint for a short time. It serves at most
 * `slowLimit` slow endpoints at the same time, so that they do not delay the others.
 */
export function createEndpointRun(
  options: WebhookDeliveryOptions,
  slowLimit: number,
): ConsumersOptions['run'] {
  const { db, sender } = options;
  let slow = 0;

  return async function serveEndpoint(consumer: Consumer, signal: AbortSignal) {
    const endpoint = await loadEndpoint(db, consumer);
    // The endpoint was deleted together with its consumer.
    if (!endpoint) return 'released';
    const run = { ...options, consumer, endpoint, signal };
    const isSlow = (endpoint.tookMs ?? 0) >= SLOW_MS;
    const obstacle = obstacleOf(endpoint, sender);
    if (obstacle === 'TEST_EVENT') return disableEndpoint(run, 'test_event');
    if (obstacle || (isSlow && slow >= slowLimit)) {
      // The cursor stays, so no entry is lost if the partner gets access again.
      await release(db, consumer, obstacle ? CHECK_ACCESS_AFTER_MS : AFTER_SLOW_MS);
      return 'released';
    }
    // For a receiver that is slow or fails, only the next message is read.
    const reader = readMessages(db, consumer, endpoint, endpoint.outcome === 'delivered' && !isSlow);
    slow += Number(isSlow);
    return deliverMessages(run, reader).finally(() => {
      slow -= Number(isSlow);
    });
  };
}

/** Delivers messages for a short time. Each message is sent after the previous one was accepted. */
async function deliverMessages(run: Run, reader: MessageReader): Promise<RunEnd> {
  const { db, consumer } = run;
  const first = await reader.next();
  if (typeof first === 'string') return restartChain(db, consumer);
  if (first === null) return skipToEnd(run, reader);
  // The range is recorded before the message is sent: after a crash, the same message must be built again.
  const { cursor, inFlightUntil } = consumer;
  if (inFlightUntil === null && !(await advance(db, consumer, cursor, first.last))) return 'released';
  return deliverFrom(run, reader, first);
}

async function deliverFrom(run: Run, reader: MessageReader, first: Message): Promise<RunEnd> {
  const { db, consumer, endpoint, sender, signal } = run;
  const endsAt = performance.now() + SLICE_MS;
  for (let message: Message | null = first; message !== null;) {
    const sending = postMessage(sender, endpoint, message, signal);
    // The next run repeats a failed read, and handles a cursor problem. This message must be recorded first.
    const read = await reader.next().catch(() => null);
    const attempt = await sending;
    if (attempt.outcome !== 'delivered') return afterFailure(run, message, attempt);
    const next = typeof read === 'string' ? null : read;
    if (!(await recordDelivered(db, consumer, message, attempt, next?.last ?? null))) return 'released';
    message = signal.aborted || performance.now() >= endsAt ? null : next;
  }
  return 'more';
}

async function afterFailure(run: Run, message: Message, attempt: Attempt): Promise<RunEnd> {
  const { db, consumer, endpoint } = run;
  // First, so that a message whose attempt is recorded is sent again as it was.
  await keepRefused(db, consumer, endpoint, message);
  await recordAttempt(db, endpoint, message, attempt);
  const { outcome, retryAfterMs } = attempt;
  if (outcome === 'stopped') return 'more';
  if (outcome === 'gone') return disableEndpoint(run, 'gone');
  if (mustDisable(consumer.failingSince)) return disableEndpoint(run, 'failing');
  if (outcome === 'slowed') await throttle(db, consumer, retryAfterMs!);
  else await retryLater(db, consumer, retryDelayMs(consumer.failures));
  return 'released';
}

/**
 * Disables an endpoint until it is resumed, and adds the notice to its partner in the same commit. Changes
 * nothing if the lease was lost.
 */
async function disableEndpoint(
  { db, log, consumer }: Run,
  reason: Webhook['disabledReason'],
): Promise<RunEnd> {
  const isDisabled = await inTransaction(db, async (transaction) => {
    // Locks the consumer first, like the actions.
    if (!(await disable(transaction, consumer))) return false;
    await updateEndpoint(transaction, consumer).set({ disabled_reason: reason }).execute();
    // No notice: partners know that test events send nothing.
    if (reason !== 'test_event') await addNotice(transaction, consumer);
    return true;
  });
  // The log omits the URL, which may contain a secret.
  const facts = { webhook: consumer.id, eventId: consumer.eventId, reason };
  if (isDisabled && reason !== 'test_event') log.warn(facts, 'a webhook was disabled');
  return 'released';
}

/** The next entries have expired. A new chain starts at the oldest entry that is kept. */
const restartChain = (db: Database, consumer: Consumer): Promise<RunEnd> =>
  inTransaction(db, async (transaction) => {
    // Advance first: if the lease was lost, its new holder or a replay has set another chain.
    if (!(await advance(transaction, consumer, 0))) return 'released';
    await updateEndpoint(transaction, consumer).set({ chain_offset: 0 }).execute();
    return 'more';
  });

/** There is no message yet. Moves the cursor past entries of other types. */
async function skipToEnd({ db, consumer }: Run, { cursor, hasMore }: MessageReader): Promise<RunEnd> {
  if (cursor === consumer.cursor && consumer.inFlightUntil === null) return 'caught-up';
  if (!(await advance(db, consumer, cursor))) return 'released';
  return hasMore ? 'more' : 'caught-up';
}
