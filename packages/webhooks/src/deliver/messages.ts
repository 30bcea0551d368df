import { createHash } from 'node:crypto';
import { formatTimestamp } from '@floodgate/contract';
import type { Database, JournalKind } from '@floodgate/database';
import {
  readJournal,
  type Consumer,
  type ConsumerId,
  type CursorProblem,
  type JournalFilter,
} from '@floodgate/journal';
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
 * Maximum number of pages (of 2,000 segments each) that one call reads without an entry for this endpoint. A
 * lease is long enough for them.
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
   * Returns the next message. Returns null if there is none yet, or if many entries of other types were
   * skipped (`cursor` is then after them). Returns a cursor problem if the next entries have expired.
   */
  next(): Promise<Message | CursorProblem | null>;
}

/**
 * Returns a reader of the messages of a consumer. If a range is in flight, the first message covers exactly
 * this range. If it was refused, it is the message that was sent. With `readsAhead`, it reads more than the
 * next message needs.
 */
export const readMessages = (
  db: Database,
  consumer: Consumer,
  to: EndpointToDeliver,
  readsAhead: boolean,
): MessageReader => new JournalMessages(db, consumer, to, readsAhead);

class JournalMessages implements MessageReader {
  cursor: number;
  hasMore = true;
  readonly #db: Database;
  readonly #to: EndpointToDeliver;
  readonly #readsAhead: boolean;
  readonly #filter: JournalFilter;
  readonly #readOnce = shareCalls(() => this.#readPage());
  /** The cursor of the last message that was delivered or returned. */
  #previous: number;
  /** Offset up to which the journal was read. */
  #readTo: number;
  #inFlightUntil: number | null;
  /** The message in flight, if it was refused. */
  #refused: Message | null;
  /** Entries that are in no message yet. */
  readonly #items: Item[] = [];
  #problem: CursorProblem | null = null;

  constructor(db: Database, consumer: Consumer, to: EndpointToDeliver, readsAhead: boolean) {
    const { shardId, eventId, partnerId, cursor, inFlightUntil } = consumer;
    this.#db = db;
    this.#to = to;
    this.#readsAhead = readsAhead;
    // Entries of the type registration.confirmed are of the kind confirmed. The kind of a waiting list is the
    // whole type.
    const kinds = to.types.map((type) => type.replace(/^(?:registration|ticket)\./, '') as JournalKind);
    this.#filter = { shardId, eventId, partnerId, withTickets: true, kinds };
    this.cursor = cursor;
    this.#previous = to.chain;
    this.#refused = inFlightUntil === null ? null : refusedMessage(to, to.chain, inFlightUntil);
    // A refused message is not read again: it is sent as it was.
    this.#readTo = this.#refused?.last ?? cursor;
    this.#inFlightUntil = this.#refused ? null : inFlightUntil;
  }

  async next(): Promise<Message | CursorProblem | null> {
    if (this.#refused) {
      const message = this.#refused;
      this.#refused = null;
      return this.#advanceTo(message);
    }
    await this.#readEnough();
    if (this.#problem) return this.#problem;
    const end = this.#inFlightUntil;
    const items = this.#takeItems();
    if (items.length === 0) {
      this.cursor = end ?? this.#readTo;
      return null;
    }
    const message = this.#advanceTo(buildMessage(this.#to, this.#previous, this.cursor, items));
    // A failed read is repeated when its entries are needed.
    if (this.#readsAhead && this.hasMore && this.#items.length < READ_AHEAD) this.#readOnce().catch(() => {});
    return message;
  }

  #advanceTo(message: Message): Message {
    this.#previous = message.last;
    this.cursor = message.last;
    return message;
  }

  /** Removes and returns the entries of the next message: those of the range in flight, or as many as fit. */
  #takeItems(): Item[] {
    const end = this.#inFlightUntil;
    this.#inFlightUntil = null;
    const count =
      end === null
        ? fitting(this.#items, this.#to.entriesPerMessage)
        : this.#items.filter(({ offset }) => offset <= end).length;
    return this.#items.splice(0, count);
  }

  async #readEnough(): Promise<void> {
    // A range in flight is read to its end, because the message must be the same.
    const limit = this.#inFlightUntil === null ? MAX_SKIPPED_PAGES : Infinity;
    for (let pages = 0; pages < limit && this.hasMore && !this.#isEnough(); pages += 1)
      await this.#readOnce();
  }

  #isEnough(): boolean {
    if (this.#inFlightUntil === null) return this.#items.length >= this.#to.entriesPerMessage;
    return this.#readTo >= this.#inFlightUntil;
  }

  async #readPage(): Promise<void> {
    const limit = this.#readsAhead ? PAGE : this.#to.entriesPerMessage;
    const page = await readJournal(this.#db, this.#filter, this.#readTo, limit);
    if (typeof page === 'string') {
      this.#problem = page;
      this.hasMore = false;
      return;
    }
    const withReference = this.#to.include.length > 0;
    this.#items.push(...(await describeEntries(this.#db, this.#filter.shardId, page.entries, withReference)));
    this.#readTo = page.cursor;
    this.hasMore = page.more;
  }
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

/**
 * Names what a message covers. The same endpoint and range have the same name, unless a replay was requested.
 */
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
 * Builds the message of at least one item. It covers the entries after the offset `after`, up to the last
 * item. `previous` is the cursor of the previous message; no entry between `previous` and `after` is for this
 * endpoint. The id is that of the content: after a crash, a message is built again, and if a ticket or a gate
 * was renamed, it is another message.
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
