import { release, type Consumer, type RunEnd } from '@floodgate/journal';
import type { Message } from './build-message.ts';
import { deliverMessages, disableEndpoint, type DeliveryRun } from './deliver-messages.ts';
import { loadEndpoint } from './load-endpoint.ts';
import { obstacleOf, postMessage, type Sender } from './post-message.ts';
import { readMessages } from './read-messages.ts';
import { recordAttempt } from './record-attempt.ts';

/** An endpoint is slow if its last attempt took longer. */
const SLOW_MS = 1_000;
/** When a slow endpoint is tried again if too many others are slow. */
const AFTER_SLOW_MS = 1_000;
/** How often a webhook without access is checked for a new grant or key. */
const CHECK_ACCESS_AFTER_MS = 5_000;

export interface DeliverOptions extends Pick<DeliveryRun, 'db' | 'onDisabled'> {
  sender: Sender;
  /** Slow endpoints that are served at once. */
  slowLimit: number;
}

/** Returns what delivers to an endpoint for a short time. Slow endpoints use only a part of the capacity, so they delay nobody else. */
export function createDelivery({ db, onDisabled, sender, slowLimit }: DeliverOptions) {
  let slow = 0;

  return async function deliver(consumer: Consumer, signal: AbortSignal): Promise<RunEnd> {
    const endpoint = await loadEndpoint(db, consumer);
    // It was deleted, and its consumer with it.
    if (!endpoint) return 'released';
    const { chain, outcome, tookMs } = endpoint;
    const isSlow = (tookMs ?? 0) >= SLOW_MS;
    const obstacle = obstacleOf(endpoint, sender);
    if (obstacle === 'TEST_EVENT') return disableEndpoint({ db, consumer, onDisabled }, 'test_event');
    // The cursor stays, so a new grant loses nothing.
    if (obstacle) return release(db, consumer, CHECK_ACCESS_AFTER_MS).then(() => 'released');
    if (isSlow && slow >= slowLimit) return release(db, consumer, AFTER_SLOW_MS).then(() => 'released');
    const send = async (message: Message) => {
      const attempt = await postMessage(sender, endpoint, message, signal);
      if (attempt.outcome !== 'delivered') await recordAttempt(db, endpoint, message, attempt);
      return attempt;
    };
    // For a receiver that is slow or fails, only the next message is read.
    const readsAhead = outcome === 'delivered' && !isSlow;
    const reader = readMessages(db, consumer, endpoint, { chain, readsAhead });
    slow += Number(isSlow);
    return deliverMessages({ db, consumer, reader, send, onDisabled, signal }).finally(() => {
      slow -= Number(isSlow);
    });
  };
}
