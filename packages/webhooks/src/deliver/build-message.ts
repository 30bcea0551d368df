import { createHash } from 'node:crypto';
import { formatTimestamp } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { JournalEntry } from '@floodgate/journal';
import { registrationsOf, statusOf } from '@floodgate/registrations/history';

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
  entriesPerMessage: number;
  /** Number of replays. It is part of the message id, so replayed messages get new ids. */
  replays: number;
}

/** Largest body with more than one entry, as Standard Webhooks recommends. */
const BODY_LIMIT_BYTES = 20 * 1024;
/** Maximum size of a body without its entries. */
const FRAME_BYTES = 256;

/** Returns entries as they are sent: a registration as List Registrations shows it, in its state at that time. */
export async function describeEntries(
  db: Database,
  shardId: number,
  entries: readonly JournalEntry[],
): Promise<Item[]> {
  const ofRegistrations = entries.filter(({ serial }) => serial !== null);
  const rows = (await registrationsOf(db, shardId, ofRegistrations)).values();
  return entries.flatMap(({ offset, kind, at, eventId, ticketId, serial }) => {
    if (serial === null) {
      const ticket = { organizedEventID: eventId, organizedEventTicketID: ticketId };
      return itemOf(offset, at, `ticket.${kind}`, { ...ticket, dateChanged: formatTimestamp(at) });
    }
    const row = rows.next().value;
    return row ? itemOf(offset, at, `registration.${kind}`, statusOf(row)) : [];
  });
}

const itemOf = (offset: number, at: Date, type: string, data: object): Item => ({
  offset,
  at,
  json: JSON.stringify({ type, ...data }),
});

/** Returns how many of these items the next message has. */
export function fitting(items: readonly Item[], entriesPerMessage: number): number {
  const most = Math.min(entriesPerMessage, items.length);
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
  const { offset, at } = items.at(-1)!;
  const range = `"previousCursor":"${previous}","cursor":"${offset}"`;
  const entries = `"entries":[${items.map(({ json }) => json).join(',')}]`;
  const name = [to.id, to.replays, previous, offset, ...to.types.toSorted()].join(' ');
  return {
    id: `msg_${createHash('sha256').update(name).digest('base64url').slice(0, 27)}`,
    body: bodyOf('event.changes', at, to.eventRef, `,${range},${entries}`),
    after,
    last: offset,
    entries: items.length,
  };
}

/** Builds a test message. */
export const buildTestMessage = (id: string, eventRef: string) => ({
  id,
  body: bodyOf('webhook.test', new Date(), eventRef),
});

const bodyOf = (type: string, at: Date, eventRef: string, more = '') =>
  `{"type":"${type}","timestamp":"${formatTimestamp(at)}","data":{"eventRef":"${eventRef}"${more}}}`;
