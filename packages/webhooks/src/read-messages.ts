import { formatTimestamp } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { readJournal, type Consumer, type CursorProblem, type JournalEntry } from '@floodgate/journal';
import { registrationsOf, statusOf } from '@floodgate/registrations/history';
import { kindsOf, TYPE_OF } from './event-types.ts';
import { createMessage, fitting, type Item, type Message, type Recipient } from './messages.ts';

/** Entries that are read at once: many messages, so that few reads wait for Postgres. */
const PAGE = 1_000;
/** Pages that are passed over at once, of 2,000 segments each: the turn ends before its lease does, and others have theirs. */
const PASSED_OVER_AT_ONCE = 20;
/** So many are there before the next message is made, where there are. The rest is read while others are sent. */
const READ_AHEAD = 500;

/** What an endpoint has to be told next. */
export interface MessageReader {
  /**
   * Returns the next message; null: nothing is left to tell, or much was passed over. What was passed over, as nobody asked for it,
   * is in `cursor`. Returns why there is none where what came next is no longer kept.
   */
  next(): Promise<Message | null | CursorProblem>;
  /** Everything up to here is in messages that were returned, or was passed over. */
  readonly cursor: number;
  /** Whether there may be more to read. */
  readonly hasMore: boolean;
}

export interface ReadOptions {
  /** Cursor of the last message that was delivered. */
  chain: number;
  /** Whether more is read than the next message needs. */
  readsAhead: boolean;
}

/** Reads messages for a consumer from its cursor on. What is under way comes first, exactly as it was. */
export function readMessages(
  db: Database,
  consumer: Consumer,
  to: Recipient,
  { chain, readsAhead }: ReadOptions,
): MessageReader {
  const { shardId, eventId, partnerId } = consumer;
  const scope = { shardId, eventId, partnerId, withTickets: true, kinds: kindsOf(to.types) };
  const page = readsAhead ? PAGE : to.entryLimit;
  let [previous, cursor, underWay] = [chain, consumer.cursor, consumer.until];
  /** What was read and is in no message yet, and how far that goes. */
  const ahead = { items: [] as Item[], readTo: consumer.cursor, hasMore: true };
  let reading: Promise<CursorProblem | null> | null = null;

  async function readPage(): Promise<CursorProblem | null> {
    const read = await readJournal(db, scope, ahead.readTo, page);
    if (typeof read === 'string') return read;
    const items = await describe(db, shardId, read.entries);
    ahead.items.push(...items);
    Object.assign(ahead, { readTo: read.cursor, hasMore: read.more });
    return null;
  }

  const readOnce = () => (reading ??= readPage().finally(() => (reading = null)));
  const isEnough = () => (underWay === null ? ahead.items.length >= to.entryLimit : ahead.readTo >= underWay);

  async function readEnough(): Promise<CursorProblem | null> {
    // What was under way is read to its end: it has to be the same.
    const most = underWay === null ? PASSED_OVER_AT_ONCE : Infinity;
    for (let pages = 0; pages < most && ahead.hasMore && !isEnough(); pages += 1) {
      const problem = await readOnce();
      if (problem) return problem;
    }
    return null;
  }

  /** Takes what the next message tells: what was under way as it was, or as much as fits. */
  function takeItems(): Item[] {
    const { items } = ahead;
    const end = underWay;
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
      const passedOver = underWay ?? ahead.readTo;
      underWay = null;
      if (items.length === 0) {
        cursor = passedOver;
        return null;
      }
      const message = createMessage(to, previous, cursor, items);
      previous = cursor = message.until;
      // Failing here, it fails again when it is needed.
      if (readsAhead && ahead.hasMore && ahead.items.length < READ_AHEAD) readOnce().catch(() => {});
      return message;
    },
  };
}

/** Returns entries as they are sent. A registration is told as List Registrations tells it, as it was then. */
async function describe(db: Database, shardId: number, entries: readonly JournalEntry[]): Promise<Item[]> {
  const ofRegistrations = entries.filter(({ serial }) => serial !== null);
  const rows = await registrationsOf(db, shardId, ofRegistrations);
  const found = new Map(ofRegistrations.map(({ offset }, index) => [offset, rows[index]]));
  return entries.flatMap(({ offset, kind, at, eventId, ticketId, serial }) => {
    const type = TYPE_OF[kind];
    if (serial === null) {
      const told = {
        organizedEventID: eventId,
        organizedEventTicketID: ticketId,
        dateChanged: formatTimestamp(at),
      };
      return [{ offset, at, json: JSON.stringify({ type, ...told }) }];
    }
    const row = found.get(offset);
    return row ? [{ offset, at, json: JSON.stringify({ type, ...statusOf(row) }) }] : [];
  });
}
