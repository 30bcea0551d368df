import { createHash } from 'node:crypto';
import { formatTimestamp } from '@floodgate/contract';
import type { Database, JournalKind } from '@floodgate/database';
import { readJournal, type Consumer, type CursorProblem } from '@floodgate/journal';
import { shareCalls } from '@floodgate/service';
import type { EndpointToDeliver } from '../endpoints.ts';
import { describeEntries, type Item } from './entries.ts';

/** Largest body with more than one entry, as Standard Webhooks recommends. */
const BODY_LIMIT_BYTES = 20 * 1024;
/** Maximum size of a body without its entries. */
const FRAME_BYTES = 256;
/** Entries per read. A read covers many messages, so that few messages wait for Postgres. */
const PAGE = 1_000;
/**
 * Maximum number of pages (of 2,000 segments each) that one call reads without an entry for this endpoint. A lease is long enough for them.
 */
const SKIPPED_AT_ONCE = 20;
/** If fewer entries than this are left, the next page is read while a message is sent. */
const READ_AHEAD = 500;

export type MessageReader = ReturnType<typeof readMessages>;

/**
 * Returns a reader of the messages of a consumer, from its cursor on. If a range is in flight, the first message covers exactly this range.
 * With `readsAhead`, it reads more than the next message needs.
 */
export function readMessages(db: Database, consumer: Consumer, to: EndpointToDeliver, readsAhead: boolean) {
  const { shardId, eventId, partnerId } = consumer;
  // Entries of the type registration.confirmed are of the kind confirmed. The kind of a waiting list is the whole type.
  const kinds = to.types.map((type) => type.replace(/^(?:registration|ticket)\./, '') as JournalKind);
  const scope = { shardId, eventId, partnerId, withTickets: true, kinds };
  const page = readsAhead ? PAGE : to.entriesPerMessage;
  let [previous, readTo, inFlightUntil] = [to.chain, consumer.cursor, consumer.inFlightUntil];
  /** Entries that are in no message yet. */
  const items: Item[] = [];
  let problem: CursorProblem | null = null;

  async function readPage() {
    const read = await readJournal(db, scope, readTo, page);
    if (typeof read === 'string') {
      problem = read;
      reader.hasMore = false;
      return;
    }
    items.push(...(await describeEntries(db, shardId, read.entries, to.include.length > 0)));
    readTo = read.cursor;
    reader.hasMore = read.more;
  }

  const readOnce = shareCalls(readPage);
  const isEnough = () =>
    inFlightUntil === null ? items.length >= to.entriesPerMessage : readTo >= inFlightUntil;

  async function readEnough() {
    // A range in flight is read to its end, because the message must be the same.
    const most = inFlightUntil === null ? SKIPPED_AT_ONCE : Infinity;
    for (let pages = 0; pages < most && reader.hasMore && !isEnough(); pages += 1) await readOnce();
  }

  const reader = {
    /** Offset up to which every entry is in a returned message or was skipped. */
    cursor: consumer.cursor,
    hasMore: true,
    /**
     * Returns the next message. Returns null if there is none yet, or if many entries of other types were skipped (`cursor` is then after
     * them). Returns a cursor problem if the next entries have expired.
     */
    async next() {
      await readEnough();
      if (problem) return problem;
      const end = inFlightUntil;
      inFlightUntil = null;
      // The entries of the range in flight, or as many as fit.
      const fit =
        end === null
          ? fitting(items, to.entriesPerMessage)
          : items.filter(({ offset }) => offset <= end).length;
      const next = items.splice(0, fit);
      if (next.length === 0) {
        reader.cursor = end ?? readTo;
        return null;
      }
      const message = buildMessage(to, previous, reader.cursor, next);
      previous = reader.cursor = message.last;
      // A failed read is repeated when its entries are needed.
      if (readsAhead && reader.hasMore && items.length < READ_AHEAD) readOnce().catch(() => {});
      return message;
    },
  };
  return reader;
}

/** Returns how many of these items the next message has. */
function fitting(items: readonly Item[], entriesPerMessage: number) {
  const most = Math.min(entriesPerMessage, items.length);
  let bytes = FRAME_BYTES;
  for (let count = 0; count < most; count += 1) {
    bytes += Buffer.byteLength(items[count]!.json) + 1;
    if (bytes > BODY_LIMIT_BYTES) return Math.max(count, 1);
  }
  return most;
}

export type Message = ReturnType<typeof buildMessage>;

/**
 * Builds the message of at least one item. It covers the entries after the offset `after`, up to the last item. `previous` is the cursor of
 * the previous message; no entry between `previous` and `after` is for this endpoint. The same endpoint and range always give the same
 * message and the same id, unless a replay was requested.
 */
function buildMessage(to: EndpointToDeliver, previous: number, after: number, items: readonly Item[]) {
  const { offset: last, at } = items.at(-1)!;
  const range = `"previousCursor":"${previous}","cursor":"${last}"`;
  const entries = `"entries":[${items.map(({ json }) => json).join(',')}]`;
  const name = [to.id, to.replays, previous, last, ...to.types.toSorted()].join(' ');
  const id = `msg_${createHash('sha256').update(name).digest('base64url').slice(0, 27)}`;
  const body = bodyOf('event.changes', at, to.eventRef, `,${range},${entries}`);
  const batchIds = new Set(items.flatMap(({ batchId }) => batchId ?? []));
  return { id, body, after, last, entries: items.length, batchIds };
}

/** Builds a test message. */
export const buildTestMessage = (id: string, eventRef: string) => ({
  id,
  body: bodyOf('webhook.test', new Date(), eventRef),
});

const bodyOf = (type: string, at: Date, eventRef: string, more = '') =>
  `{"type":"${type}","timestamp":"${formatTimestamp(at)}","data":{"eventRef":"${eventRef}"${more}}}`;
