import type { Database } from '@floodgate/database';
import { readJournal, type Consumer, type CursorProblem } from '@floodgate/journal';
import { kindsOf } from '../notices.ts';
import {
  buildMessage,
  describeEntries,
  fitting,
  type Item,
  type Message,
  type Recipient,
} from './build-message.ts';

/** Entries of one read: many messages, so that few reads wait for Postgres. */
const PAGE = 1_000;
/** Pages without an entry for this endpoint that one call reads, of 2,000 segments each: fewer than a lease allows. */
const SKIPPED_AT_ONCE = 20;
/** With fewer entries than this, the next page is read while a message is sent. */
const READ_AHEAD = 500;

export type MessageReader = ReturnType<typeof readMessages>;

/**
 * Reads the messages of a consumer from its cursor on. A range in flight comes first, exactly as it was. `chain` is the cursor of the
 * last delivered message. With `readsAhead`, more is read than the next message needs.
 */
export function readMessages(
  db: Database,
  consumer: Consumer,
  to: Recipient,
  { chain, readsAhead }: { chain: number; readsAhead: boolean },
) {
  const { shardId, eventId, partnerId } = consumer;
  const scope = { shardId, eventId, partnerId, withTickets: true, kinds: kindsOf(to.types) };
  const page = readsAhead ? PAGE : to.entriesPerMessage;
  let [previous, readTo, inFlightUntil] = [chain, consumer.cursor, consumer.inFlightUntil];
  /** Entries that are in no message yet. */
  const items: Item[] = [];
  let problem: CursorProblem | null = null;
  let reading: Promise<void> | null = null;

  async function readPage(): Promise<void> {
    const read = await readJournal(db, scope, readTo, page);
    if (typeof read === 'string') {
      problem = read;
      reader.hasMore = false;
      return;
    }
    items.push(...(await describeEntries(db, shardId, read.entries)));
    readTo = read.cursor;
    reader.hasMore = read.more;
  }

  const readOnce = () => (reading ??= readPage().finally(() => (reading = null)));
  const isEnough = () =>
    inFlightUntil === null ? items.length >= to.entriesPerMessage : readTo >= inFlightUntil;

  async function readEnough(): Promise<void> {
    // A range in flight is read to its end, because the message must be the same.
    const most = inFlightUntil === null ? SKIPPED_AT_ONCE : Infinity;
    for (let pages = 0; pages < most && reader.hasMore && !isEnough(); pages += 1) await readOnce();
  }

  /** Returns how many entries the next message has: those of the range in flight, or as many as fit. */
  const countNext = (end: number | null) =>
    end === null ? fitting(items, to.entriesPerMessage) : items.filter(({ offset }) => offset <= end).length;

  const reader = {
    /** Everything up to here is in returned messages, or was skipped. */
    cursor: consumer.cursor,
    hasMore: true,
    /**
     * Returns the next message. Null: there is none yet, or many entries of other types were skipped and `cursor` is past them. A
     * cursor problem: the next entries have expired.
     */
    async next(): Promise<Message | CursorProblem | null> {
      await readEnough();
      if (problem) return problem;
      const next = items.splice(0, countNext(inFlightUntil));
      const skippedTo = inFlightUntil ?? readTo;
      inFlightUntil = null;
      if (next.length === 0) {
        reader.cursor = skippedTo;
        return null;
      }
      const message = buildMessage(to, previous, reader.cursor, next);
      previous = reader.cursor = message.last;
      // If this read fails, it is repeated when its entries are needed.
      if (readsAhead && reader.hasMore && items.length < READ_AHEAD) readOnce().catch(() => {});
      return message;
    },
  };
  return reader;
}
