import type { Database } from '@floodgate/database';
import { release, type Consumer, type RunEnd } from '@floodgate/journal';
import type { Dispatcher } from 'undici';
import { createSigner } from '../signatures.ts';
import type { Message } from './build-message.ts';
import { deliverMessages, type DeliveryRun } from './deliver-messages.ts';
import { disableEndpoint, type DisabledReason } from './disable-endpoint.ts';
import { loadEndpoint, type EndpointToDeliver } from './load-endpoint.ts';
import { postMessage, type Attempt } from './post-message.ts';
import { readMessages } from './read-messages.ts';
import { recordAttempt } from './record-attempt.ts';

/** An endpoint is slow if its last attempt took longer. */
const SLOW_MS = 1_000;
/** When a slow endpoint is tried again if too many others are slow. */
const AFTER_SLOW_MS = 1_000;
/** How often a webhook without access is checked for a new grant or key. */
const CHECK_ACCESS_AFTER_MS = 5_000;

export interface DeliverOptions {
  db: Database;
  /** Returns what sends to endpoints of events of this mode; null: nothing is sent. */
  dispatcherOf: (mode: EndpointToDeliver['mode']) => Dispatcher | null;
  /** Slow endpoints that are served at once. */
  slowLimit: number;
  onAttempt: (attempt: Attempt, message: Pick<Message, 'id'> & Partial<Message>) => void;
  onDisabled: (webhook: Pick<Consumer, 'id' | 'eventId'>, reason: DisabledReason) => void;
}

/** Returns what delivers to an endpoint for a short time. Slow endpoints use only a part of the capacity, so they delay nobody else. */
export function createDelivery({ db, dispatcherOf, slowLimit, onAttempt, onDisabled }: DeliverOptions) {
  let slow = 0;

  const disableBy = (consumer: Consumer) => async (reason: DisabledReason) => {
    if (await disableEndpoint(db, consumer, reason)) onDisabled(consumer, reason);
  };

  async function releaseFor(consumer: Consumer, delayMs: number): Promise<'released'> {
    await release(db, consumer, delayMs);
    return 'released';
  }

  async function deliverTo(
    endpoint: EndpointToDeliver,
    dispatcher: Dispatcher,
    run: Pick<DeliveryRun, 'consumer' | 'disable' | 'signal'>,
  ): Promise<RunEnd> {
    const { url, keys, chain, lastAttempt } = endpoint;
    const sign = createSigner(keys);
    const send = async (message: Message) => {
      const attempt = await postMessage({ url, message, sign, dispatcher, signal: run.signal });
      onAttempt(attempt, message);
      if (attempt.outcome !== 'delivered') await recordAttempt(db, endpoint, message, attempt);
      return attempt;
    };
    // For a receiver that is slow or fails, only the next message is read.
    const readsAhead = lastAttempt?.outcome === 'delivered' && lastAttempt.tookMs < SLOW_MS;
    const reader = readMessages(db, run.consumer, endpoint, { chain, readsAhead });
    return deliverMessages({ ...run, db, reader, send });
  }

  return async function deliver(consumer: Consumer, signal: AbortSignal): Promise<RunEnd> {
    const endpoint = await loadEndpoint(db, consumer);
    // It was deleted, and its consumer with it.
    if (!endpoint) return 'released';
    // The cursor stays, so a new grant loses nothing.
    if (!endpoint.hasAccess) return releaseFor(consumer, CHECK_ACCESS_AFTER_MS);
    const run = { consumer, disable: disableBy(consumer), signal };
    const dispatcher = dispatcherOf(endpoint.mode);
    if (!dispatcher) {
      await run.disable('test_event');
      return 'released';
    }
    const isSlow = (endpoint.lastAttempt?.tookMs ?? 0) >= SLOW_MS;
    if (isSlow && slow >= slowLimit) return releaseFor(consumer, AFTER_SLOW_MS);
    slow += Number(isSlow);
    return deliverTo(endpoint, dispatcher, run).finally(() => {
      slow -= Number(isSlow);
    });
  };
}
