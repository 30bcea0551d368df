import type { ConsumerState, Database, JournalKind, Mode } from '@floodgate/database';
import { findDelivery, queueEdition } from '@floodgate/deliveries';
import type { Consumer } from '@floodgate/journal';
import { sql } from 'kysely';

/** The kind of the delivery that tells a partner that a webhook was disabled. Its subject is the webhook's id. */
export const WEBHOOK_DISABLED = 'webhook-disabled';
/** A webhook that is resumed and disabled again and again causes one e-mail an hour. */
const APART_MINUTES = 60;

type Disabled = Pick<Consumer, 'shardId' | 'id' | 'eventId'>;
const queueOf = ({ shardId, eventId }: Disabled) => ({ shardId, eventId, kind: WEBHOOK_DISABLED });

/** Queues the notice to the partner of a disabled endpoint. It replaces a notice that waits. */
export const addNotice = (transaction: Database, endpoint: Disabled): Promise<void> =>
  queueEdition(transaction, queueOf(endpoint), endpoint.id, APART_MINUTES);

/** Returns what became of the notice about an endpoint; undefined: there is none. */
export const findNotice = (db: Database, endpoint: Disabled) =>
  findDelivery(db, queueOf(endpoint), endpoint.id);

/** The content and the recipient of a notice about a disabled webhook. */
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

/** Returns the kinds of journal entries of these types: registration.confirmed is confirmed. */
export const kindsOf = (types: readonly string[]) => types.map((type) => type.split('.')[1] as JournalKind);

/** Returns what a notice says at this moment; undefined if the endpoint was deleted. */
export async function findWebhookNotice(
  db: Database,
  shardId: number,
  id: string,
): Promise<FoundNotice | undefined> {
  const { rows } = await sql<Omit<FoundNotice, 'receiver'> & { url: string }>`
    select endpoint.id as "webhookId", endpoint.url, endpoint.description, endpoint.disabled_reason as reason,
      consumer.state, consumer.failing_since as "failingSince",
      event.name as "eventName", event.ref as "eventRef", event.mode, partner.contact_email as contact,
      (
        select coalesce(sum(least(count, segment.last_offset - consumer.last_offset)), 0)
        from journal_segments segment
        where segment.shard_id = ${shardId} and segment.event_id = consumer.event_id
          and segment.partner_id in (0, consumer.partner_id) and segment.last_offset > consumer.last_offset
          and array['registration.' || kind, 'ticket.' || kind] && endpoint.types
      ) as waiting
    from webhook_endpoints endpoint
    join journal_consumers consumer on consumer.shard_id = endpoint.shard_id and consumer.id = endpoint.id
    join events event on event.id = endpoint.event_id
    join partners partner on partner.id = endpoint.partner_id
    where endpoint.shard_id = ${shardId} and endpoint.id = ${id}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { url, ...notice } = row;
  const { host, pathname } = new URL(url);
  return { ...notice, receiver: host + pathname };
}
