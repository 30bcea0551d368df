import type { Database } from '@floodgate/database';
import {
  advance,
  disable,
  postpone,
  release,
  type Consumer,
  type CursorProblem,
  type TurnEnd,
} from '@floodgate/journal';
import type { Dispatcher } from 'undici';
import {
  breakChain,
  loadEndpoint,
  noteAttempt,
  noteDelivered,
  noteReason,
  type DisabledReason,
  type EndpointToDeliver,
} from './endpoint-to-deliver.ts';
import type { Message } from './messages.ts';
import { postMessage, type Attempt } from './post-message.ts';
import { readMessages, type MessageReader } from './read-messages.ts';
import { isGivenUp, retryDelayMs } from './schedule.ts';
import { createSigner } from './signatures.ts';

/** How long an endpoint may go on before another has its turn. */
const TURN_MS = 1_000;
/** An endpoint whose last attempt took longer is slow. */
const SLOW_MS = 1_000;
/** When a slow one comes again for which there was no room. */
const ROOM_AFTER_MS = 1_000;

export interface DeliverOptions {
  db: Database;
  /** What sends to an endpoint of an event of this mode; null: nothing is sent to those. */
  dispatcherOf: (mode: EndpointToDeliver['mode']) => Dispatcher | null;
  /** How many turns slow endpoints may have under way at once. */
  slowSlots: number;
  onAttempt: (attempt: Attempt, message: Pick<Message, 'id'> & Partial<Message>) => void;
}

type Send = (message: Message) => Promise<Attempt>;

/** Returns what delivers to an endpoint for a while: one message after the other, each until it is accepted. */
export function createDelivery({ db, dispatcherOf, slowSlots, onAttempt }: DeliverOptions) {
  let slowUnderWay = 0;

  async function giveUp(consumer: Consumer, reason: DisabledReason): Promise<'kept'> {
    await noteReason(db, consumer, reason);
    await disable(db, consumer);
    return 'kept';
  }

  /** What follows an attempt by which nothing was delivered. What was under way stays so. */
  async function afterFailure(consumer: Consumer, attempt: Attempt): Promise<'kept'> {
    const { outcome, retryAfterMs } = attempt;
    if (outcome === 'gone') return giveUp(consumer, 'gone');
    if (outcome === 'stopped') await release(db, consumer);
    else if (outcome === 'slowed') await release(db, consumer, retryAfterMs!);
    else if (isGivenUp(consumer.failingSince)) return giveUp(consumer, 'failing');
    else await postpone(db, consumer, retryDelayMs(consumer.failures));
    return 'kept';
  }

  async function beginAnew(consumer: Consumer): Promise<TurnEnd> {
    await breakChain(db, consumer);
    return (await advance(db, consumer, { cursor: 0 })) ? 'more' : 'kept';
  }

  /** Passes over what nobody asked for. */
  async function passOver(consumer: Consumer, cursor: number): Promise<TurnEnd> {
    if (cursor === consumer.cursor && consumer.until === null) return 'done';
    return (await advance(db, consumer, { cursor })) ? 'done' : 'kept';
  }

  async function deliverAll(
    consumer: Consumer,
    reader: MessageReader,
    send: Send,
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const endsAt = performance.now() + TURN_MS;
    let message = await reader.next();
    if (isProblem(message)) return beginAnew(consumer);
    if (message === null) return passOver(consumer, reader.cursor);
    // Before it is sent for the first time: what is made after a crash has to be the same.
    if (consumer.until === null) {
      const isNoted = await advance(db, consumer, { cursor: consumer.cursor, until: message.until });
      if (!isNoted) return 'kept';
    }
    while (message !== null) {
      const [attempt, next]: [Attempt, Message | CursorProblem | null] = await Promise.all([
        send(message),
        reader.next(),
      ]);
      if (attempt.outcome !== 'delivered') return afterFailure(consumer, attempt);
      const following: Message | null = isProblem(next) ? null : next;
      const isKept = await noteDelivered(db, consumer, message, attempt, following?.until ?? null);
      if (!isKept) return 'kept';
      if (signal.aborted || performance.now() >= endsAt) return 'more';
      message = following;
    }
    return 'more';
  }

  async function deliver(
    consumer: Consumer,
    endpoint: EndpointToDeliver,
    dispatcher: Dispatcher,
    signal: AbortSignal,
  ) {
    const { url, keys } = endpoint;
    const sign = createSigner(keys);
    const send: Send = async (message) => {
      const attempt = await postMessage({ url, message, sign, dispatcher, signal });
      onAttempt(attempt, message);
      // What was delivered is noted with what follows from it.
      if (attempt.outcome !== 'delivered') await noteAttempt(db, endpoint, message, attempt);
      return attempt;
    };
    // Of who does not answer, or answers late, only the next message is read.
    const { outcome, tookMs } = endpoint.lastAttempt ?? { outcome: null, tookMs: 0 };
    const isQuick = outcome === 'delivered' && tookMs < SLOW_MS;
    const reader = readMessages(db, consumer, endpoint, { chain: endpoint.chain, readsAhead: isQuick });
    return deliverAll(consumer, reader, send, signal);
  }

  /** Delivers for a while. What is slow has part of the room only, so that it keeps nobody else from being served. */
  return async function turn(consumer: Consumer, signal: AbortSignal): Promise<TurnEnd> {
    const endpoint = await loadEndpoint(db, consumer.shardId, consumer.id);
    // It was deleted meanwhile, and its consumer with it.
    if (!endpoint) return 'kept';
    const dispatcher = dispatcherOf(endpoint.mode);
    if (!dispatcher) return giveUp(consumer, 'test_event');
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

const isProblem = (next: Message | null | CursorProblem): next is CursorProblem => typeof next === 'string';
