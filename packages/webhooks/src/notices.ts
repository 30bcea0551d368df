import type { Database } from '@floodgate/database';
import { findDelivery, queueEdition } from '@floodgate/deliveries';
import { sql } from 'kysely';
import { findEndpoint, type Endpoint } from './endpoints.ts';

/** The kind of the delivery that tells a partner that a webhook was disabled. Its subject is the webhook's id. */
export const WEBHOOK_DISABLED = 'webhook-disabled';
/** A webhook that is resumed and disabled again and again causes one e-mail an hour. */
const APART_MINUTES = 60;

type Disabled = Pick<Endpoint, 'shardId' | 'eventId' | 'id'>;
const queueOf = ({ shardId, eventId }: Disabled) => ({ shardId, eventId, kind: WEBHOOK_DISABLED });

/** Queues the notice to the partner of a disabled endpoint. It replaces a notice that waits. */
export const addNotice = (transaction: Database, endpoint: Disabled) =>
  queueEdition(transaction, queueOf(endpoint), endpoint.id, APART_MINUTES);

/** Returns what became of the notice about an endpoint; undefined: there is none. */
export const findNotice = (db: Database, endpoint: Disabled) =>
  findDelivery(db, queueOf(endpoint), endpoint.id);

/** The content and the recipient of a notice about a disabled webhook. */
export type FoundNotice = NonNullable<Awaited<ReturnType<typeof findWebhookNotice>>>;

/** Returns what a notice says at this moment; undefined if the endpoint was deleted. */
export async function findWebhookNotice(db: Database, shardId: number, id: string) {
  const endpoint = await findEndpoint(db, { shardId, id });
  if (!endpoint) return undefined;
  const { eventId, partnerId, cursor, types, url, description, failingSince, state } = endpoint;
  const waiting = sql<number>`(
    select coalesce(sum(least(count, last_offset - ${cursor}::bigint)), 0) from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id in (0, ${partnerId})
      and last_offset > ${cursor}::bigint and array['registration.' || kind, 'ticket.' || kind] && ${types}::text[]
  )`;
  const facts = await db
    .selectFrom('events as event')
    .innerJoin('partners as partner', (join) => join.on('partner.id', '=', partnerId))
    .select(['event.name as eventName', 'event.ref as eventRef', 'event.mode'])
    .select(['partner.contact_email as contact', waiting.as('waiting')])
    .where('event.id', '=', eventId)
    .executeTakeFirstOrThrow();
  const { host, pathname } = new URL(url);
  const reason = endpoint.disabledReason as 'gone' | 'failing';
  // Host and path only: the rest of a URL may be a secret.
  return { ...facts, webhookId: id, receiver: host + pathname, description, reason, failingSince, state };
}
