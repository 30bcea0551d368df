import type { Webhook } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import {
  advance,
  disable,
  release,
  retryLater,
  throttle,
  type Consumer,
  type RunEnd,
} from '@floodgate/journal';
import { updateEndpoint } from '../endpoints.ts';
import { addNotice } from '../notices.ts';
import type { Message } from './build-message.ts';
import type { Attempt } from './post-message.ts';
import type { MessageReader } from './read-messages.ts';
import { recordDelivered } from './record-attempt.ts';
import { isGivenUp, retryDelayMs } from './retry-schedule.ts';

// read range ──▶ build message ──▶ sign, post ──▶ record ──▶ next message
//                                     └─ not delivered ──▶ retry later, throttle or disable: the range stays in flight

/** How long an endpoint is served before others are. */
const SLICE_MS = 1_000;

/** Why the service has disabled an endpoint. */
type DisabledReason = NonNullable<Webhook['disabledReason']>;

export interface DeliveryRun {
  db: Database;
  consumer: Consumer;
  reader: MessageReader;
  /** Sends a message once, and records the attempt unless the message was delivered. */
  send: (message: Message) => Promise<Attempt>;
  onDisabled: (consumer: Consumer, reason: DisabledReason) => void;
  /** Aborted when the process stops. */
  signal: AbortSignal;
}

/** Delivers messages for a short time. The next one is sent when the previous one was accepted. */
export async function deliverMessages(run: DeliveryRun): Promise<RunEnd> {
  const { db, consumer, reader } = run;
  const first = await reader.next();
  if (typeof first === 'string') return restartChain(db, consumer);
  if (first === null) return skipToEnd(run);
  // Recorded before it is sent: after a crash the same message must be built again.
  const range = { cursor: consumer.cursor, inFlightUntil: first.last };
  if (consumer.inFlightUntil === null && !(await advance(db, consumer, range))) return 'released';
  return deliverFrom(run, first);
}

async function deliverFrom(run: DeliveryRun, first: Message): Promise<RunEnd> {
  const { db, consumer, reader, send, signal } = run;
  const endsAt = performance.now() + SLICE_MS;
  for (let message: Message | null = first; message !== null;) {
    const [attempt, next]: [Attempt, Awaited<ReturnType<MessageReader['next']>>] = await Promise.all([
      send(message),
      // The next run repeats a failed read. This message must be recorded first.
      reader.next().catch(() => null),
    ]);
    if (attempt.outcome !== 'delivered') return afterFailure(run, attempt);
    // The next run handles a problem.
    const following: Message | null = typeof next === 'string' ? null : next;
    if (!(await recordDelivered(db, consumer, message, attempt, following?.last ?? null))) return 'released';
    message = signal.aborted || performance.now() >= endsAt ? null : following;
  }
  return 'more';
}

async function afterFailure(run: DeliveryRun, { outcome, retryAfterMs }: Attempt): Promise<'released'> {
  const { db, consumer } = run;
  if (outcome === 'gone') await disableEndpoint(run, 'gone');
  else if (outcome === 'stopped') await release(db, consumer);
  else if (isGivenUp(consumer.failingSince)) await disableEndpoint(run, 'failing');
  else if (outcome === 'slowed') await throttle(db, consumer, retryAfterMs!);
  else await retryLater(db, consumer, retryDelayMs(consumer.failures));
  return 'released';
}

/**
 * Disables an endpoint until it is resumed, and adds the notice to its partner in the same commit. Changes nothing if the lease was
 * lost.
 */
export async function disableEndpoint(
  { db, consumer, onDisabled }: Pick<DeliveryRun, 'db' | 'consumer' | 'onDisabled'>,
  reason: DisabledReason,
): Promise<'released'> {
  const isDisabled = await inTransaction(db, async (transaction) => {
    // The consumer first, as the actions do.
    if (!(await disable(transaction, consumer))) return false;
    await updateEndpoint(transaction, consumer).set({ disabled_reason: reason }).execute();
    // The partner knows beforehand that test events send nothing.
    if (reason !== 'test_event') await addNotice(transaction, consumer);
    return true;
  });
  if (isDisabled) onDisabled(consumer, reason);
  return 'released';
}

/** The next entries have expired. A new chain starts at the oldest entry that is kept. */
const restartChain = (db: Database, consumer: Consumer): Promise<RunEnd> =>
  inTransaction(db, async (transaction) => {
    // First, because the holder of a newer lease, or a replay, has its own chain.
    if (!(await advance(transaction, consumer, { cursor: 0 }))) return 'released';
    await updateEndpoint(transaction, consumer).set({ chain_offset: 0 }).execute();
    return 'more';
  });

/** There is no message yet. Moves the cursor past entries of other types. */
async function skipToEnd({ db, consumer, reader: { cursor, hasMore } }: DeliveryRun): Promise<RunEnd> {
  if (cursor === consumer.cursor && consumer.inFlightUntil === null) return 'caught-up';
  if (!(await advance(db, consumer, { cursor }))) return 'released';
  return hasMore ? 'more' : 'caught-up';
}
