import { formatTimestamp, type WebhookEventType } from '@floodgate/contract';
import type { Database, JournalKind } from '@floodgate/database';
import type { JournalEntry } from '@floodgate/journal';
import { registrationsOf, statusOf } from '@floodgate/registrations/history';
import type { Item } from './build-message.ts';

const TYPE_OF: Record<JournalKind, WebhookEventType> = {
  confirmed: 'registration.confirmed',
  cancelled: 'registration.cancelled',
  failed: 'registration.failed',
  sold_out: 'ticket.sold_out',
  reopened: 'ticket.reopened',
};

/** Returns the kinds of journal entries that have these types. */
export const kindsOf = (types: readonly string[]): JournalKind[] =>
  (Object.keys(TYPE_OF) as JournalKind[]).filter((kind) => types.includes(TYPE_OF[kind]));

/** Returns entries as they are sent: a registration as List Registrations shows it, in its state at that time. */
export async function describeEntries(
  db: Database,
  shardId: number,
  entries: readonly JournalEntry[],
): Promise<Item[]> {
  const ofRegistrations = entries.filter(({ serial }) => serial !== null);
  const rows = await registrationsOf(db, shardId, ofRegistrations);
  const found = new Map(ofRegistrations.map(({ offset }, index) => [offset, rows[index]]));
  return entries.flatMap(({ offset, kind, at, eventId, ticketId, serial }) => {
    const type = TYPE_OF[kind];
    if (serial === null) {
      const ticket = { organizedEventID: eventId, organizedEventTicketID: ticketId };
      return [{ offset, at, json: JSON.stringify({ type, ...ticket, dateChanged: formatTimestamp(at) }) }];
    }
    const row = found.get(offset);
    return row ? [{ offset, at, json: JSON.stringify({ type, ...statusOf(row) }) }] : [];
  });
}
