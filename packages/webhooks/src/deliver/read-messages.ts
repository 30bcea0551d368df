import type { Database } from '@floodgate/database';
import { readJournal, type Consumer, type CursorProblem } from '@floodgate/journal';
import { buildMessage, fitting, type Item, type Message, type Recipient } from './build-message.ts';
import { describeEntries, kindsOf } from './describe-entries.ts';

/** Entries of one read: many messages, so that few reads wait for Postgres. */
const PAGE = 1_000;
/** Pages without an entry for this endpoint that one call reads, of 2,000 segments each: fewer than a lease allows. */
const SKIPPED_AT_ONCE = 20;
/** With fewer entries than this, the next page is read while a message is sent. */
const READ_AHEAD = 500;

export interface MessageReader {
  /**
   * Returns the next message. Null: there is none yet, or many entries of other types were skipped and `cursor` is past them. A
   * cursor problem: the next entries have expired.
   */
  next(): Promise<Message | null | CursorProblem>;
  /** Everything up to here is in returned messages, or was skipped. */
  readonly cursor: number;
  readonly hasMore: boolean;
}

export interface ReadOptions {
  /** Cursor of the last delivered message. */
  chain: number;
  /** Whether to read more than the next message needs. */
  readsAhead: boolean;
}

/** Reads the messages of a consumer from its cursor on. A range in flight comes first, exactly as it was. */
export function readMessages(
  db: Database,
  consumer: Consumer,
  to: Recipient,
  { chain, readsAhead }: ReadOptions,
): MessageReader {
  const { shardId, eventId, partnerId } = consumer;
  const scope = { shardId, eventId, partnerId, withTickets: true, kinds: kindsOf(to.types) };
  const page = readsAhead ? PAGE : to.entryLimit;
  let [previous, cursor, inFlightUntil] = [chain, consumer.cursor, consumer.inFlightUntil];
  /** Entries that are in no message yet, and how far the journal was read. */
  const ahead = { items: [] as Item[], readTo: consumer.cursor, hasMore: true };
  let reading: Promise<CursorProblem | null> | null = null;

  async function readPage(): Promise<CursorProblem | null> {
    const read = await readJournal(db, scope, ahead.readTo, page);
    if (typeof read === 'string') return read;
    ahead.items.push(...(await describeEntries(db, shardId, read.entries)));
    Object.assign(ahead, { readTo: read.cursor, hasMore: read.more });
    return null;
  }

  const readOnce = () => (reading ??= readPage().finally(() => (reading = null)));
  const isEnough = () =>
    inFlightUntil === null ? ahead.items.length >= to.entryLimit : ahead.readTo >= inFlightUntil;

  async function readEnough(): Promise<CursorProblem | null> {
    // A range in flight is read to its end, because the message must be the same.
    const most = inFlightUntil === null ? SKIPPED_AT_ONCE : Infinity;
    for (let pages = 0; pages < most && ahead.hasMore && !isEnough(); pages += 1) {
      const problem = await readOnce();
      if (problem) return problem;
    }
    return null;
  }

  /** Takes the entries of the next message: the range in flight, or as many as fit. */
  function takeItems(): Item[] {
    const { items } = ahead;
    const end = inFlightUntil;
    if (end === null) return items.splice(0, fitting(items, to.entryLimit));
    return items.splice(0, items.filter(({ offset }) => offset <= end).length);
  }

  return {
    get cursor() {
      return cursor;
    },
    get hasMore() {
      return ahead.hasMore;
    },
    async next() {
      const problem = await readEnough();
      if (problem) return problem;
      const items = takeItems();
      const skippedTo = inFlightUntil ?? ahead.readTo;
      inFlightUntil = null;
      if (items.length === 0) {
        cursor = skippedTo;
        return null;
      }
      const message = buildMessage(to, previous, cursor, items);
      previous = cursor = message.last;
      // If this read fails, it is repeated when its entries are needed.
      if (readsAhead && ahead.hasMore && ahead.items.length < READ_AHEAD) readOnce().catch(() => {});
      return message;
    },
  };
}
