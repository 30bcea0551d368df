import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import {
  advance,
  release,
  retryLater,
  throttle,
  type Consumer,
  type CursorProblem,
  type RunEnd,
} from '@floodgate/journal';
import { updateEndpoint } from '../endpoints.ts';
import type { Message } from './build-message.ts';
import type { DisabledReason } from './disable-endpoint.ts';
import type { Attempt } from './post-message.ts';
import type { MessageReader } from './read-messages.ts';
import { recordDelivered } from './record-attempt.ts';
import { isGivenUp, retryDelayMs } from './retry-schedule.ts';

// read range ──▶ build message ──▶ sign, post ──▶ record ──▶ next message
//                                     └─ not delivered ──▶ retry later, throttle or disable: the range stays in flight

/** How long an endpoint is served before others are. */
const SLICE_MS = 1_000;

export interface DeliveryRun {
  db: Database;
  consumer: Consumer;
  reader: MessageReader;
  /** Sends a message once, and records the attempt unless the message was delivered. */
  send: (message: Message) => Promise<Attempt>;
  disable: (reason: DisabledReason) => Promise<unknown>;
  /** Aborted when the process stops. */
  signal: AbortSignal;
}

/** Delivers messages for a short time. The next one is sent when the previous one was accepted. */
export async function deliverMessages(run: DeliveryRun): Promise<RunEnd> {
  const { db, consumer, reader } = run;
  const first = await reader.next();
  if (isProblem(first)) return restartChain(db, consumer);
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
    const [attempt, next]: [Attempt, Message | CursorProblem | null] = await Promise.all([
      send(message),
      // The next run repeats a failed read. This message must be recorded first.
      reader.next().catch(() => null),
    ]);
    if (attempt.outcome !== 'delivered') return afterFailure(run, attempt);
    // The next run handles a problem.
    const following: Message | null = isProblem(next) ? null : next;
    if (!(await recordDelivered(db, consumer, message, attempt, following?.last ?? null))) return 'released';
    message = signal.aborted || performance.now() >= endsAt ? null : following;
  }
  return 'more';
}

const isProblem = (next: Message | null | CursorProblem): next is CursorProblem => typeof next === 'string';

async function afterFailure(run: DeliveryRun, { outcome, retryAfterMs }: Attempt): Promise<'released'> {
  const { db, consumer, disable } = run;
  if (outcome === 'gone') await disable('gone');
  else if (outcome === 'stopped') await release(db, consumer);
  else if (isGivenUp(consumer.failingSince)) await disable('failing');
  else if (outcome === 'slowed') await throttle(db, consumer, retryAfterMs!);
  else await retryLater(db, consumer, retryDelayMs(consumer.failures));
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
