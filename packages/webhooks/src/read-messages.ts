import { formatTimestamp } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { readJournal, type Consumer, type CursorProblem, type JournalEntry } from '@floodgate/journal';
import { registrationsOf, statusOf } from '@floodgate/registrations/history';
import { kindsOf, TYPE_OF } from './event-types.ts';
import { createMessage, fitting, type Item, type Message, type Recipient } from './messages.ts';

/** Entries that are read at once: many messages, so that few reads wait for Postgres. */
const PAGE = 1_000;
/** So many are there before the next message is made, where there are. The rest is read while others are sent. */
const READ_AHEAD = 500;

/** What an endpoint has to be told next. */
export interface MessageReader {
  /**
   * Returns the next message; null: nothing is left to tell. What was passed over, as nobody asked for it, is in `cursor`. Returns
   * why there is none where what came next is no longer kept.
   */
  next(): Promise<Message | null | CursorProblem>;
  /** Everything up to here is in messages that were returned, or was passed over. */
  readonly cursor: number;
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
  let [previous, cursor, underWay] = [chain, consumer.cursor, consumer.until];
  let items: Item[] = [];
  let start = 0;
  let readTo = consumer.cursor;
  let hasMore = true;
  let reading: Promise<CursorProblem | null> | null = null;

  async function readPage(): Promise<CursorProblem | null> {
    const page = await readJournal(db, scope, readTo, readsAhead ? PAGE : to.entryLimit);
    if (typeof page === 'string') return page;
    const described = await describe(db, shardId, page.entries);
    items = items.slice(start).concat(described);
    start = 0;
    readTo = page.cursor;
    hasMore = page.more;
    return null;
  }

  const readOnce = () => (reading ??= readPage().finally(() => (reading = null)));
  const left = () => items.length - start;
  const hasAll = () => (underWay === null ? left() >= to.entryLimit : readTo >= underWay);

  return {
    get cursor() {
      return cursor;
    },
    async next() {
      while (hasMore && !hasAll()) {
        const problem = await readOnce();
        if (problem) return problem;
      }
      const end = underWay;
      const count =
        end === null
          ? fitting(items, start, to.entryLimit)
          : items.slice(start).filter(({ offset }) => offset <= end).length;
      underWay = null;
      if (count === 0) {
        cursor = end ?? readTo;
        return null;
      }
      const message = createMessage(to, previous, cursor, items.slice(start, start + count));
      start += count;
      previous = cursor = message.until;
      // Failing here, it fails again when it is needed.
      if (readsAhead && hasMore && left() < READ_AHEAD) readOnce().catch(() => {});
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
