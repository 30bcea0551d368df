import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import {
  advance,
  disable,
  postpone,
  release,
  slowDown,
  type Consumer,
  type CursorProblem,
  type TurnEnd,
} from '@floodgate/journal';
import { breakChain, noteDelivered, noteReason, type DisabledReason } from './endpoint-to-deliver.ts';
import type { Message } from './messages.ts';
import { addNotice } from './notices.ts';
import type { Attempt } from './post-message.ts';
import type { MessageReader } from './read-messages.ts';
import { isGivenUp, retryDelayMs } from './schedule.ts';

/** How long an endpoint may go on before another has its turn. */
const TURN_MS = 1_000;

export interface Turn {
  db: Database;
  consumer: Consumer;
  reader: MessageReader;
  /** Sends a message once. What was not delivered is noted already. */
  send: (message: Message) => Promise<Attempt>;
  onGivenUp: (reason: DisabledReason) => void;
  /** Aborted when the process stops. */
  signal: AbortSignal;
}

/** Delivers messages for a while, one after the other: the next is sent when the one before was accepted. */
export async function deliverMessages(turn: Turn): Promise<TurnEnd> {
  const { db, consumer, reader } = turn;
  const first = await reader.next();
  if (isProblem(first)) return beginAnew(db, consumer);
  if (first === null) return passOver(turn);
  // Before it is sent for the first time: what is made after a crash has to be the same.
  const range = { cursor: consumer.cursor, until: first.until };
  if (consumer.until === null && !(await advance(db, consumer, range))) return 'kept';
  return deliverFrom(turn, first);
}

async function deliverFrom(turn: Turn, first: Message): Promise<TurnEnd> {
  const { db, consumer, reader, send, signal } = turn;
  const endsAt = performance.now() + TURN_MS;
  for (let message: Message | null = first; message !== null;) {
    const [attempt, next]: [Attempt, Message | CursorProblem | null] = await Promise.all([
      send(message),
      // A read that fails is repeated by the next turn: this message must be recorded first.
      reader.next().catch(() => null),
    ]);
    if (attempt.outcome !== 'delivered') return afterFailure(turn, attempt);
    // What is wrong with the next is looked at when its turn comes.
    const following: Message | null = isProblem(next) ? null : next;
    if (!(await noteDelivered(db, consumer, message, attempt, following?.until ?? null))) return 'kept';
    message = signal.aborted || performance.now() >= endsAt ? null : following;
  }
  return 'more';
}

const isProblem = (next: Message | null | CursorProblem): next is CursorProblem => typeof next === 'string';

/**
 * Gives an endpoint up, until it is resumed, and has its partner told: both or neither. Nothing happens where somebody else has it
 * by now.
 */
export async function giveUp(
  { db, consumer, onGivenUp }: Pick<Turn, 'db' | 'consumer' | 'onGivenUp'>,
  reason: DisabledReason,
): Promise<'kept'> {
  const isGivenUpHere = await inTransaction(db, async (transaction) => {
    // Before the endpoint, as those do who change endpoints: else one could wait for the other.
    if (!(await disable(transaction, consumer))) return false;
    await noteReason(transaction, consumer, reason);
    // That of a test event is known beforehand.
    if (reason !== 'test_event') await addNotice(transaction, consumer);
    return true;
  });
  if (isGivenUpHere) onGivenUp(reason);
  return 'kept';
}

/** What follows an attempt by which nothing was delivered. What was under way stays so. */
async function afterFailure(turn: Turn, { outcome, retryAfterMs }: Attempt): Promise<'kept'> {
  const { db, consumer } = turn;
  if (outcome === 'gone') return giveUp(turn, 'gone');
  if (outcome === 'stopped') await release(db, consumer);
  else if (isGivenUp(consumer.failingSince)) return giveUp(turn, 'failing');
  else if (outcome === 'slowed') await slowDown(db, consumer, retryAfterMs!);
  else await postpone(db, consumer, retryDelayMs(consumer.failures));
  return 'kept';
}

/** What came next is no longer kept: a new chain begins. */
const beginAnew = (db: Database, consumer: Consumer): Promise<TurnEnd> =>
  inTransaction(db, async (transaction) => {
    // First: whoever has the lease by now, or replays, has a chain of its own.
    if (!(await advance(transaction, consumer, { cursor: 0 }))) return 'kept';
    await breakChain(transaction, consumer);
    return 'more';
  });

/** Passes over what nobody asked for. */
async function passOver({ db, consumer, reader: { cursor, hasMore } }: Turn): Promise<TurnEnd> {
  if (cursor === consumer.cursor && consumer.until === null) return 'done';
  if (!(await advance(db, consumer, { cursor }))) return 'kept';
  return hasMore ? 'more' : 'done';
}
