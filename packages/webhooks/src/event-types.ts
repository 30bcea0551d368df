import type { WebhookEventType } from '@floodgate/contract';
import type { JournalKind } from '@floodgate/database';

/** What partners call the entries of the journal. */
export const TYPE_OF: Record<JournalKind, WebhookEventType> = {
  confirmed: 'registration.confirmed',
  cancelled: 'registration.cancelled',
  failed: 'registration.failed',
  sold_out: 'ticket.sold_out',
  reopened: 'ticket.reopened',
};

/** Returns which entries of the journal are of these types. */
export const kindsOf = (types: readonly string[]): JournalKind[] =>
  (Object.keys(TYPE_OF) as JournalKind[]).filter((kind) => types.includes(TYPE_OF[kind]));
