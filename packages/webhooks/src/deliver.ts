import type { Database } from '@floodgate/database';
import { release, type Consumer, type TurnEnd } from '@floodgate/journal';
import type { Dispatcher } from 'undici';
import { deliverMessages, giveUp, type Turn } from './deliver-messages.ts';
import {
  loadEndpoint,
  noteAttempt,
  type DisabledReason,
  type EndpointToDeliver,
} from './endpoint-to-deliver.ts';
import type { Message } from './messages.ts';
import { postMessage, type Attempt } from './post-message.ts';
import { readMessages } from './read-messages.ts';
import { createSigner } from './signatures.ts';

/** An endpoint whose last attempt took longer is slow. */
const SLOW_MS = 1_000;
/** When a slow one comes again for which there was no room. */
const ROOM_AFTER_MS = 1_000;
/** How often a webhook without access is checked for a new grant or key. */
const CHECK_ACCESS_AFTER_MS = 5_000;

export interface DeliverOptions {
  db: Database;
  /** What sends to an endpoint of an event of this mode; null: nothing is sent to those. */
  dispatcherOf: (mode: EndpointToDeliver['mode']) => Dispatcher | null;
  /** How many turns slow endpoints may have under way at once. */
  slowSlots: number;
  onAttempt: (attempt: Attempt, message: Pick<Message, 'id'> & Partial<Message>) => void;
  onGivenUp: (webhook: Pick<Consumer, 'id' | 'eventId'>, reason: DisabledReason) => void;
}

/**
 * Returns what delivers to an endpoint for a while. Slow endpoints have part of the room only, so that they keep nobody else from
 * being served.
 */
export function createDelivery({ db, dispatcherOf, slowSlots, onAttempt, ...options }: DeliverOptions) {
  let slowUnderWay = 0;
  const givenUp = (consumer: Consumer) => (reason: DisabledReason) => options.onGivenUp(consumer, reason);

  function deliver(
    consumer: Consumer,
    endpoint: EndpointToDeliver,
    dispatcher: Dispatcher,
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const { url, keys, chain, lastAttempt } = endpoint;
    const sign = createSigner(keys);
    const send: Turn['send'] = async (message) => {
      const attempt = await postMessage({ url, message, sign, dispatcher, signal });
      onAttempt(attempt, message);
      // What was delivered is noted with what follows from it.
      if (attempt.outcome !== 'delivered') await noteAttempt(db, endpoint, message, attempt);
      return attempt;
    };
    // Of who does not answer, or answers late, only the next message is read.
    const readsAhead = lastAttempt?.outcome === 'delivered' && lastAttempt.tookMs < SLOW_MS;
    const reader = readMessages(db, consumer, endpoint, { chain, readsAhead });
    return deliverMessages({ db, consumer, reader, send, onGivenUp: givenUp(consumer), signal });
  }

  return async function turn(consumer: Consumer, signal: AbortSignal): Promise<TurnEnd> {
    const endpoint = await loadEndpoint(db, consumer.shardId, consumer.id);
    // It was deleted meanwhile, and its consumer with it.
    if (!endpoint) return 'kept';
    // The cursor stays, so a new grant loses nothing.
    if (!endpoint.hasAccess) {
      await release(db, consumer, CHECK_ACCESS_AFTER_MS);
      return 'kept';
    }
    const dispatcher = dispatcherOf(endpoint.mode);
    if (!dispatcher) return giveUp({ db, consumer, onGivenUp: givenUp(consumer) }, 'test_event');
    const isSlow = (endpoint.lastAttempt?.tookMs ?? 0) >= SLOW_MS;
    if (isSlow && slowUnderWay >= slowSlots) {
      await release(db, consumer, ROOM_AFTER_MS);
      return 'kept';
    }
    slowUnderWay += Number(isSlow);
    try {
      return await deliver(consumer, endpoint, dispatcher, signal);
    } finally {
      slowUnderWay -= Number(isSlow);
    }
  };
}
