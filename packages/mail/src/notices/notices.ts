import {
  plainArray,
  type ConsumerState,
  type Database,
  type Mode,
  type NoticeState,
} from '@floodgate/database';
import { sql } from 'kysely';
import type { WebhookNotice } from '../templates/webhook-notice.ts';

// What partners are to be told of webhooks, as the webhooks' own turns have noted it.

/** How long others leave alone what one process has taken. Far longer than an attempt takes: nobody waits for these. */
const CLAIM_MINUTES = 15;
/** Of one endpoint an e-mail is sent no more often, however often it is resumed and given up again. */
const APART_MINUTES = 60;
/** For so long a notice waits for its partner to have a contact. */
const KEPT_DAYS = 30;

/** A notice that this process has taken. */
export interface ClaimedNotice {
  shardId: number;
  /** Of the endpoint. */
  id: string;
  messageId: string;
  attempts: number;
}

/** Takes a notice of a shard whose time has come, the longest waiting first. Null: there is none. */
export async function claimNotice(db: Database, shardId: number): Promise<ClaimedNotice | null> {
  const { rows: due } = await sql<{ id: string }>`
    select id from webhook_notices
    where shard_id = ${shardId} and state = 'waiting' and next_at <= now()
      and (sent_at is null or sent_at <= now() - make_interval(mins => ${APART_MINUTES}))
    order by next_at limit 1`.execute(db);
  if (!due[0]) return null;
  const { rows } = await sql<ClaimedNotice>`
    update webhook_notices set next_at = now() + make_interval(mins => ${CLAIM_MINUTES})
    where shard_id = ${shardId} and id = ${due[0].id} and state = 'waiting' and next_at <= now()
    returning shard_id as "shardId", id, message_id as "messageId", attempts`.execute(db);
  // Somebody else was quicker, and the next round looks again.
  return rows[0] ?? null;
}

/** What there is to know of a notice right before it is sent. */
export interface FoundNotice extends Omit<WebhookNotice, 'waiting' | 'receiver' | 'webhookId'> {
  url: string;
  /** Of the endpoint. */
  state: ConsumerState;
  mode: Mode;
  contact: string | null;
  isOld: boolean;
  eventId: number;
  partnerId: number;
  cursor: number;
  types: string[];
}

/** Reads what there is to know of a notice; undefined where the endpoint was deleted, or given up once more. */
export async function findNotice(
  db: Database,
  { shardId, id, messageId }: ClaimedNotice,
): Promise<FoundNotice | undefined> {
  const { rows } = await sql<FoundNotice>`
    select endpoint.url, endpoint.description, endpoint.types, endpoint.disabled_reason as reason,
      endpoint.event_id as "eventId", endpoint.partner_id as "partnerId", consumer.state, consumer.last_offset as cursor,
      event.name as "eventName", event.ref as "eventRef", event.mode, partner.contact_email as contact,
      notice.failing_since as "failingSince", notice.given_up_at as "givenUpAt",
      notice.given_up_at < now() - make_interval(days => ${KEPT_DAYS}) as "isOld"
    from webhook_notices notice
    join webhook_endpoints endpoint on endpoint.shard_id = notice.shard_id and endpoint.id = notice.id
    join journal_consumers consumer on consumer.shard_id = notice.shard_id and consumer.id = notice.id
    join events event on event.id = endpoint.event_id
    join partners partner on partner.id = endpoint.partner_id
    where notice.shard_id = ${shardId} and notice.id = ${id} and notice.message_id = ${messageId}`.execute(
    db,
  );
  return rows[0];
}

/** Counts what an endpoint was not told yet, of what it asked for. */
export async function countWaiting(
  db: Database,
  shardId: number,
  { eventId, partnerId, cursor, types }: FoundNotice,
): Promise<number> {
  // As registration.confirmed and ticket.sold_out are called.
  const kinds = types.map((type) => type.split('.')[1]!);
  const { rows } = await sql<{ waiting: number }>`
    select coalesce(sum(least(count, last_offset - ${cursor}::bigint)), 0) as waiting from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id in (0, ${partnerId})
      and last_offset > ${cursor} and kind = any(${plainArray(kinds)}::text[])`.execute(db);
  return rows[0]!.waiting;
}

/** What became of a notice. Waiting: it is looked at again after so long. */
export interface NoticeOutcome {
  state: NoticeState;
  reason: string | null;
  attempts: number;
  againInMs: number;
}

/** Writes what became of a notice, unless there is a newer one of the same endpoint. */
export async function writeOutcome(
  db: Database,
  { shardId, id, messageId }: ClaimedNotice,
  { state, reason, attempts, againInMs }: NoticeOutcome,
): Promise<void> {
  const sent = state === 'sent' ? sql`, sent_at = now()` : sql``;
  await sql`
    update webhook_notices
    set state = ${state}, reason = ${reason}, attempts = ${attempts},
      next_at = now() + make_interval(secs => ${againInMs / 1_000}) ${sent}
    where shard_id = ${shardId} and id = ${id} and message_id = ${messageId}`.execute(db);
}
