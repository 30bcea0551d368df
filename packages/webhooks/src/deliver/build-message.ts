import { createHash, randomUUID } from 'node:crypto';
import { formatTimestamp } from '@floodgate/contract';

/** An entry as it is sent. */
export interface Item {
  /** Its position in the journal. */
  offset: number;
  at: Date;
  json: string;
}

export interface Message {
  /** The same for the same endpoint and range, unless a replay was requested. */
  id: string;
  body: string;
  /** It has the entries after this offset … */
  after: number;
  /** … up to this one. */
  last: number;
  entries: number;
}

export interface Recipient {
  id: string;
  eventRef: string;
  types: readonly string[];
  /** Maximum number of entries in one message. */
  entryLimit: number;
  /** Number of replays. It is part of the message id, so replayed messages get new ids. */
  replays: number;
}

/** Largest body with more than one entry, as Standard Webhooks recommends. */
export const BODY_LIMIT_BYTES = 20 * 1024;
/** Maximum size of a body without its entries. */
const FRAME_BYTES = 256;

/** Returns how many of these items the next message has. */
export function fitting(items: readonly Item[], entryLimit: number): number {
  const most = Math.min(entryLimit, items.length);
  let bytes = FRAME_BYTES;
  for (let count = 0; count < most; count += 1) {
    bytes += Buffer.byteLength(items[count]!.json) + 1;
    if (bytes > BODY_LIMIT_BYTES) return Math.max(count, 1);
  }
  return most;
}

/**
 * Builds the message of these items, at least one. `previous` is the cursor of the previous message: between it and `after` there is
 * nothing for this endpoint. Built again, the message is the same.
 */
export function buildMessage(
  to: Recipient,
  previous: number,
  after: number,
  items: readonly Item[],
): Message {
  const last = items.at(-1)!;
  const data = [
    `"eventRef":${JSON.stringify(to.eventRef)}`,
    `"previousCursor":"${previous}"`,
    `"cursor":"${last.offset}"`,
    `"entries":[${items.map(({ json }) => json).join(',')}]`,
  ];
  const name = [to.id, to.replays, previous, last.offset, ...to.types.toSorted()].join(' ');
  return {
    id: `msg_${createHash('sha256').update(name).digest('base64url').slice(0, 27)}`,
    body: bodyOf('event.changes', last.at, data.join(',')),
    after,
    last: last.offset,
    entries: items.length,
  };
}

export const testMessageId = () => `msg_test_${randomUUID()}`;

/** Builds a test message. */
export const buildTestMessage = (
  id: string,
  eventRef: string,
  at = new Date(),
): Pick<Message, 'id' | 'body'> => ({
  id,
  body: bodyOf('webhook.test', at, `"eventRef":${JSON.stringify(eventRef)}`),
});

const bodyOf = (type: string, at: Date, data: string) =>
  `{"type":"${type}","timestamp":"${formatTimestamp(at)}","data":{${data}}}`;
