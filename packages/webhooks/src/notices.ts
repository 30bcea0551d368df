import type { ConsumerState, Database, Mode } from '@floodgate/database';
import { findDelivery, queueEdition } from '@floodgate/deliveries';
import type { Consumer } from '@floodgate/journal';
import { sql } from 'kysely';

/** The kind of the delivery that tells a partner that a webhook was disabled. Its subject is the webhook's id. */
export const WEBHOOK_DISABLED = 'webhook-disabled';
/** A webhook that is resumed and disabled again and again causes one e-mail an hour. */
const APART_MINUTES = 60;

const queueOf = ({ shardId, eventId }: Pick<Consumer, 'shardId' | 'eventId'>) => ({
  shardId,
  eventId,
  kind: WEBHOOK_DISABLED,
});

/** Queues the notice to the partner of a disabled endpoint. It replaces a notice that waits. */
export const addNotice = (
  transaction: Database,
  endpoint: Pick<Consumer, 'shardId' | 'id' | 'eventId'>,
): Promise<void> => queueEdition(transaction, queueOf(endpoint), endpoint.id, APART_MINUTES);

/** Returns what became of the notice about an endpoint; undefined: there is none. */
export const findNotice = (db: Database, endpoint: Pick<Consumer, 'shardId' | 'id' | 'eventId'>) =>
  findDelivery(db, queueOf(endpoint), endpoint.id);

/** What a notice says about a disabled webhook, and to whom. */
export interface FoundNotice {
  webhookId: string;
  /** Host and path only: the rest of a URL may be a secret. */
  receiver: string;
  description: string;
  eventName: string;
  eventRef: string;
  reason: 'gone' | 'failing';
  /** Null: no attempt had failed before. */
  failingSince: Date | null;
  /** Changes that were not delivered. */
  waiting: number;
  state: ConsumerState;
  mode: Mode;
  contact: string | null;
}

interface Row extends Omit<FoundNotice, 'receiver' | 'waiting' | 'webhookId'> {
  url: string;
  eventId: number;
  partnerId: number;
  cursor: number;
  types: string[];
}

/** Returns what a notice says at this moment; undefined if the endpoint was deleted. */
export async function findWebhookNotice(
  db: Database,
  shardId: number,
  id: string,
): Promise<FoundNotice | undefined> {
  const { rows } = await sql<Row>`
    select endpoint.url, endpoint.description, endpoint.types, endpoint.disabled_reason as reason,
      endpoint.event_id as "eventId", endpoint.partner_id as "partnerId", consumer.state,
      consumer.last_offset as cursor, consumer.failing_since as "failingSince",
      event.name as "eventName", event.ref as "eventRef", event.mode, partner.contact_email as contact
    from webhook_endpoints endpoint
    join journal_consumers consumer on consumer.shard_id = endpoint.shard_id and consumer.id = endpoint.id
    join events event on event.id = endpoint.event_id
    join partners partner on partner.id = endpoint.partner_id
    where endpoint.shard_id = ${shardId} and endpoint.id = ${id}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { url, eventId: _event, partnerId: _partner, cursor: _cursor, types: _types, ...notice } = row;
  const { host, pathname } = new URL(url);
  return {
    ...notice,
    webhookId: id,
    receiver: host + pathname,
    waiting: await countUndelivered(db, shardId, row),
  };
}

/** Counts journal entries of the subscribed types that were not delivered. */
async function countUndelivered(
  db: Database,
  shardId: number,
  { eventId, partnerId, cursor, types }: Row,
): Promise<number> {
  // registration.confirmed and ticket.sold_out are kinds of the journal without their prefix.
  const kinds = types.map((type) => type.split('.')[1]!);
  const { rows } = await sql<{ waiting: number }>`
    select coalesce(sum(least(count, last_offset - ${cursor}::bigint)), 0) as waiting from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id in (0, ${partnerId})
      and last_offset > ${cursor} and kind = any(${kinds}::text[])`.execute(db);
  return rows[0]!.waiting;
}
