import { createHash } from 'node:crypto';
import { formatTimestamp } from '@floodgate/contract';
import type { Database, JournalKind } from '@floodgate/database';
import { readJournal, type Consumer, type ConsumerId, type CursorProblem } from '@floodgate/journal';
import { shareCalls } from '@floodgate/service';
import { updateEndpoint, type EndpointToDeliver } from '../endpoints.ts';
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
const MAX_SKIPPED_PAGES = 20;
/** If fewer entries than this are left, the next page is read while a message is sent. */
const READ_AHEAD = 500;

/** Reads the messages of a consumer, from its cursor on. */
export interface MessageReader {
  /** Offset up to which every entry is in a returned message or was skipped. */
  readonly cursor: number;
  /** Whether more entries may follow. */
  readonly hasMore: boolean;
  /**
   * Returns the next message. Returns null if there is none yet, or if many entries of other types were skipped
   * (`cursor` is then after them). Returns a cursor problem if the next entries have expired.
   */
  next(): Promise<Message | CursorProblem | null>;
}

/**
 * Returns a reader of the messages of a consumer, from its cursor on. If a range is in flight, the first message covers exactly this range.
 * If it was refused, it is the message that was sent.
 * With `readsAhead`, it reads more than the next message needs.
 */
export function readMessages(
  db: Database,
  consumer: Consumer,
  to: EndpointToDeliver,
  readsAhead: boolean,
): MessageReader {
  const { shardId, eventId, partnerId } = consumer;
  // Entries of the type registration.confirmed are of the kind confirmed. The kind of a waiting list is the whole type.
  const kinds = to.types.map((type) => type.replace(/^(?:registration|ticket)\./, '') as JournalKind);
  const scope = { shardId, eventId, partnerId, withTickets: true, kinds };
  const page = readsAhead ? PAGE : to.entriesPerMessage;
  let previous = to.chain;
  let readTo = consumer.cursor;
  let { inFlightUntil } = consumer;
  /** Entries that are in no message yet. */
  const items: Item[] = [];
  let problem: CursorProblem | null = null;
  let refused = inFlightUntil === null ? null : refusedMessage(to, previous, inFlightUntil);
  if (refused) {
    readTo = refused.last;
    inFlightUntil = null;
  }

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
    const limit = inFlightUntil === null ? MAX_SKIPPED_PAGES : Infinity;
    for (let pages = 0; pages < limit && reader.hasMore && !isEnough(); pages += 1) await readOnce();
  }

  function advanceTo(message: Message): Message {
    previous = message.last;
    reader.cursor = message.last;
    return message;
  }

  const reader = {
    cursor: consumer.cursor,
    hasMore: true,
    async next(): Promise<Message | CursorProblem | null> {
      if (refused) {
        const message = refused;
        refused = null;
        return advanceTo(message);
      }
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
      const message = advanceTo(buildMessage(to, previous, reader.cursor, next));
      // A failed read is repeated when its entries are needed.
      if (readsAhead && reader.hasMore && items.length < READ_AHEAD) readOnce().catch(() => {});
      return message;
    },
  };
  return reader;
}

/** Returns how many of these items the next message has. */
function fitting(items: readonly Item[], entriesPerMessage: number) {
  const limit = Math.min(entriesPerMessage, items.length);
  let bytes = FRAME_BYTES;
  for (let count = 0; count < limit; count += 1) {
    bytes += Buffer.byteLength(items[count]!.json) + 1;
    if (bytes > BODY_LIMIT_BYTES) return Math.max(count, 1);
  }
  return limit;
}

/** A message to an endpoint. */
export interface Message {
  id: string;
  body: string;
  /** The cursor of the previous message. */
  previous: number;
  /** It covers the entries after this offset, up to `last`. */
  after: number;
  last: number;
  entries: number;
  /** The batches of its registrations, for traces. */
  batchIds: ReadonlySet<string>;
}

/** A message that was sent and not accepted, as it is stored. */
export interface RefusedMessage extends Omit<Message, 'batchIds'> {
  range: string;
}

/** Names what a message covers. The same endpoint and range have the same name, unless a replay was requested. */
const rangeOf = (to: EndpointToDeliver, previous: number, last: number) =>
  [to.id, to.replays, previous, last, ...to.types.toSorted()].join(' ');

/** Returns the message of this range that was sent and not accepted; null if there is none. */
function refusedMessage(to: EndpointToDeliver, previous: number, last: number): Message | null {
  if (!to.refused || to.refused.range !== rangeOf(to, previous, last)) return null;
  const { range: _range, ...message } = to.refused;
  return { ...message, batchIds: new Set() };
}

/** Stores a message that was not accepted, so that it is sent again as it was. */
export async function keepRefused(
  db: Database,
  consumer: ConsumerId,
  to: EndpointToDeliver,
  message: Message,
) {
  const { batchIds: _batchIds, ...content } = message;
  const refused: RefusedMessage = { ...content, range: rangeOf(to, message.previous, message.last) };
  await updateEndpoint(db, consumer)
    .set({ refused_message: JSON.stringify(refused) })
    .execute();
}

/**
 * Builds the message of at least one item. It covers the entries after the offset `after`, up to the last item. `previous` is the cursor of
 * the previous message; no entry between `previous` and `after` is for this endpoint. The id is that of the content: after a crash, a
 * message is built again, and if a ticket or a gate was renamed, it is another message.
 */
function buildMessage(
  to: EndpointToDeliver,
  previous: number,
  after: number,
  items: readonly Item[],
): Message {
  const { offset: last, at } = items.at(-1)!;
  const range = `"previousCursor":"${previous}","cursor":"${last}"`;
  const entries = `"entries":[${items.map(({ json }) => json).join(',')}]`;
  const body = bodyOf('event.changes', at, to.eventRef, `,${range},${entries}`);
  const digest = createHash('sha256')
    .update(`${rangeOf(to, previous, last)} ${body}`)
    .digest('base64url');
  const id = `msg_${digest.slice(0, 27)}`;
  const batchIds = new Set(items.flatMap(({ batchId }) => batchId ?? []));
  return { id, body, previous, after, last, entries: items.length, batchIds };
}

/** Builds a test message. */
export const buildTestMessage = (id: string, eventRef: string) => ({
  id,
  body: bodyOf('webhook.test', new Date(), eventRef),
});

const bodyOf = (type: string, at: Date, eventRef: string, more = '') =>
  `{"type":"${type}","timestamp":"${formatTimestamp(at)}","data":{"eventRef":"${eventRef}"${more}}}`;
