import {
  formatTimestamp,
  isUuid,
  type Webhook,
  type WebhookAttempt,
  type WebhookEventType,
} from '@floodgate/contract';
import type { PartnerActor } from '@floodgate/audit';
import { askShards, inCamelCase, shardIds, type Database } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';
import { sql } from 'kysely';
import type { RefusedMessage } from './deliver/messages.ts';
import { createSigner, publicKeyText } from './signatures.ts';

/** The partner that owns an endpoint, and the event. */
export type Owner = Omit<PartnerActor, 'kind'>;

/** An endpoint with the progress of its consumer, without its secrets. */
export type Endpoint = Awaited<ReturnType<typeof listEndpoints>>[number];

/**
 * Returns the endpoints of a shard that have these values, oldest first. `failing`: only those whose last
 * attempt failed, and those that do not send.
 */
export const listEndpoints = (
  db: Database,
  { shardId, eventId, partnerId, id }: Partial<Owner & ConsumerId> & { shardId: number },
  failing = false,
) =>
  inCamelCase(db)
    .selectFrom('webhookEndpoints as endpoint')
    .innerJoin('journalConsumers as consumer', 'consumer.id', 'endpoint.id')
    .innerJoin('webhookSecrets as secret', 'secret.endpointId', 'endpoint.id')
    .select(['endpoint.shardId', 'endpoint.eventId', 'endpoint.partnerId', 'endpoint.id', 'publicKey'])
    .select(['url', 'description', 'types', 'include', 'entryLimit as entriesPerMessage'])
    .select(['state', 'pausedBy', 'disabledReason', 'endpoint.createdAt'])
    .select(['lastOffset as cursor', 'failures', 'failingSince', 'nextAt'])
    .$narrowType<{
      types: WebhookEventType[];
      include: 'partnerReference'[];
      disabledReason: Webhook['disabledReason'];
    }>()
    .where('endpoint.shardId', '=', shardId)
    .where(({ and }) => and({ 'consumer.shardId': shardId, 'secret.shardId': shardId, endsAt: null }))
    .$if(eventId !== undefined, (query) => query.where('endpoint.eventId', '=', eventId!))
    .$if(partnerId !== undefined, (query) => query.where('endpoint.partnerId', '=', partnerId!))
    .$if(id !== undefined, (query) => query.where('endpoint.id', '=', id!))
    .$if(failing, (query) =>
      query.where(({ or, eb }) => or([eb('state', '<>', 'active'), eb('failures', '>', 0)])),
    )
    .orderBy('endpoint.createdAt')
    .orderBy('endpoint.id')
    .execute();

/** Returns an endpoint; undefined if it does not exist or has another owner. */
export const findEndpoint = async (db: Database, endpoint: ConsumerId & Partial<Owner>) =>
  (await listEndpoints(db, endpoint))[0];

/** Returns an endpoint of any owner in any shard. */
export async function findEndpointAnywhere(db: Database, id: string) {
  if (!isUuid(id)) return undefined;
  const { answers } = await askShards(await shardIds(db), (shardId) => findEndpoint(db, { shardId, id }));
  return answers.find((endpoint) => endpoint !== undefined);
}

/** Starts an update of an endpoint. */
export const updateEndpoint = (db: Database, { shardId, id }: ConsumerId) =>
  db.updateTable('webhook_endpoints').where('shard_id', '=', shardId).where('id', '=', id);

/** Returns an endpoint as its partner sees it. */
export function webhookOf(endpoint: Endpoint): Webhook {
  const { shardId: _shard, eventId: _event, partnerId: _partner, pausedBy: _paused, ...rest } = endpoint;
  const { failingSince, nextAt, createdAt, include, ...webhook } = rest;
  const isScheduled = webhook.state === 'active' && +nextAt > Date.now();
  return {
    ...webhook,
    ...(include.length > 0 && { include }),
    disabledReason: webhook.state === 'disabled' ? webhook.disabledReason : null,
    cursor: String(webhook.cursor),
    dateFailing: failingSince && formatTimestamp(failingSince),
    dateNextAttempt: isScheduled ? formatTimestamp(nextAt) : null,
    publicKey: publicKeyText(webhook.publicKey),
    dateCreated: formatTimestamp(createdAt),
  };
}

/** Returns the latest attempts of an endpoint as its partner sees them, latest first. */
export async function listAttempts(db: Database, { shardId, id }: ConsumerId, limit: number) {
  const { rows } = await sql<Omit<WebhookAttempt, 'dateAttempted'> & { dateAttempted: Date }>`
    select message_id as "messageId", after_offset::text as "previousCursor", last_offset::text as cursor, entries,
      at as "dateAttempted", took_ms as milliseconds, outcome, http_status as "httpStatus", error
    from webhook_attempts where shard_id = ${shardId} and endpoint_id = ${id}
    order by at desc, id limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...row, dateAttempted: formatTimestamp(row.dateAttempted) }));
}

/** An endpoint with everything that a delivery needs. `sign` signs with the valid keys, newest first. */
export type EndpointToDeliver = NonNullable<Awaited<ReturnType<typeof loadEndpoint>>>;

/** Returns an endpoint; undefined if it was deleted. */
export async function loadEndpoint(db: Database, { shardId, id }: ConsumerId) {
  const ofEndpoint = sql`shard_id = ${shardId} and endpoint_id = ${id}`;
  const validKeys = (column: 'secret' | 'private_key') => sql<Buffer[]>`array(
    select ${sql.ref(column)} from webhook_secrets
    where ${ofEndpoint} and (ends_at is null or ends_at > now()) order by created_at desc
  )`;
  // The partner is not disabled, and has the grant and a valid key of the event's mode. Requests to the API
  // must meet the same rule.
  const hasAccess = sql<boolean>`exists (
    select from event_grants permission join secret_keys key on key.partner_id = permission.partner_id
      join partners on partners.id = permission.partner_id and disabled_at is null
    where permission.event_id = event.id and permission.partner_id = endpoint.partner_id
      and key.mode = event.mode and key.revoked_at is null and coalesce(key.expires_at > now(), true)
  )`;
  const lastAttempt = sql<{ outcome: string; took_ms: number }>`(
    select outcome, took_ms from webhook_attempts where ${ofEndpoint} order by at desc limit 1
  )`.as('attempt');
  const found = await db
    .selectFrom('webhook_endpoints as endpoint')
    .innerJoin('events as event', 'event.id', 'endpoint.event_id')
    .leftJoin(lastAttempt, (join) => join.onTrue())
    .select([
      'endpoint.id',
      'endpoint.shard_id as shardId',
      'url',
      'types',
      'include',
      'entry_limit as entriesPerMessage',
      'refused_message as refused',
    ])
    // The next message names the cursor of the last delivered one. Replayed messages get new ids.
    .select(['chain_offset as chain', 'replays', 'event.ref as eventRef', 'event.mode'])
    .$narrowType<{ refused: RefusedMessage | null }>()
    .select(['attempt.outcome', 'attempt.took_ms as tookMs', hasAccess.as('hasAccess')])
    .select([validKeys('secret').as('secrets'), validKeys('private_key').as('privateKeys')])
    .where(({ and }) => and({ 'endpoint.shard_id': shardId, 'endpoint.id': id }))
    .executeTakeFirst();
  const keys = found?.secrets.map((secret, index) => ({ secret, privateKey: found.privateKeys[index]! }));
  return found && { ...found, sign: createSigner(keys!) };
}
