import { createHash, randomUUID } from 'node:crypto';
import { formatTimestamp } from '@floodgate/contract';

/** An entry as it is sent. */
export interface Item {
  /** Its place in the journal. */
  offset: number;
  at: Date;
  json: string;
}

/** What is sent at once. */
export interface Message {
  /** Of the same endpoint and range it is the same, until a replay is asked for. */
  id: string;
  body: string;
  /** It tells of what comes after the one, up to the other. */
  after: number;
  until: number;
  entries: number;
}

/** Who is told. */
export interface Recipient {
  id: string;
  eventRef: string;
  types: readonly string[];
  /** Entries of one message, at most. */
  entryLimit: number;
  /** How often it was asked for everything once more: that is told by other messages. */
  replays: number;
}

/** Largest body that is made of more than one entry, as Standard Webhooks recommends. */
export const BODY_LIMIT_BYTES = 20 * 1024;
/** Bytes of a body that are not entries, at most. */
const FRAME_BYTES = 256;

/** Returns how many of these make the next message: as many as the endpoint takes, and as fit. */
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
 * Makes the message that tells of these entries, at least one. `previous` is the cursor of the message before: between that and
 * `after` there is nothing that was asked for. Made again, it is the same.
 */
export function createMessage(
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
    until: last.offset,
    entries: items.length,
  };
}

/** Makes an id for a message that is only to try an endpoint. */
export const testMessageId = () => `msg_test_${randomUUID()}`;

/** Makes such a message. */
export const createTestMessage = (
  id: string,
  eventRef: string,
  at = new Date(),
): Pick<Message, 'id' | 'body'> => ({
  id,
  body: bodyOf('webhook.test', at, `"eventRef":${JSON.stringify(eventRef)}`),
});

const bodyOf = (type: string, at: Date, data: string) =>
  `{"type":"${type}","timestamp":"${formatTimestamp(at)}","data":{${data}}}`;
