import type { ConsumerState, Database, Mode } from '@floodgate/database';
import { findDelivery, queueEdition } from '@floodgate/deliveries';
import { sql } from 'kysely';
import { findEndpoint, type Endpoint } from './endpoints.ts';

/** Kind of the deliveries that notify a partner of a disabled webhook. The subject is the webhook's id. */
export const WEBHOOK_DISABLED = 'webhook-disabled';
/** A webhook that is resumed and disabled repeatedly causes at most one e-mail per hour. */
const APART_MINUTES = 60;

type DisabledEndpoint = Pick<Endpoint, 'shardId' | 'eventId' | 'id'>;
const queueOf = ({ shardId, eventId }: DisabledEndpoint) => ({ shardId, eventId, kind: WEBHOOK_DISABLED });

/** Queues the notice to the partner of a disabled endpoint. It replaces a notice that is still queued. */
export const addNotice = (transaction: Database, endpoint: DisabledEndpoint) =>
  queueEdition(transaction, queueOf(endpoint), endpoint.id, APART_MINUTES);

/** Returns the state of the notice about an endpoint; undefined if there is none. */
export const findNotice = (db: Database, endpoint: DisabledEndpoint) =>
  findDelivery(db, queueOf(endpoint), endpoint.id);

/** The content and the recipient of a notice about a disabled webhook. */
export interface NoticeContent {
  webhookId: string;
  eventName: string;
  eventRef: string;
  mode: Mode;
  /** The address of the partner; null if it has none. */
  contact: string | null;
  /** Host and path of the receiver. */
  receiver: string;
  description: string;
  reason: 'gone' | 'failing';
  failingSince: Date | null;
  /** The state of the webhook, which the partner may have resumed meanwhile. */
  state: ConsumerState;
  /** Number of journal entries that were not delivered. */
  waiting: number;
}

/** Returns the current content of a notice; undefined if the endpoint was deleted. */
export async function findNoticeContent(
  db: Database,
  shardId: number,
  id: string,
): Promise<NoticeContent | undefined> {
  const endpoint = await findEndpoint(db, { shardId, id });
  if (!endpoint) return undefined;
  const { eventId, partnerId, cursor, types, url, description, failingSince, state } = endpoint;
  const waiting = sql<number>`(
    select coalesce(sum(least(count, last_offset - ${cursor}::bigint)), 0) from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id in (0, ${partnerId})
      and last_offset > ${cursor}::bigint
      and array['registration.' || kind, 'ticket.' || kind, kind] && ${types}::text[]
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
