import {
  formatTimestamp,
  isUuid,
  type Webhook,
  type WebhookAttempt,
  type WebhookEventType,
} from '@floodgate/contract';
import { askShards, shardIds, type Database } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';
import { sql, type InferResult } from 'kysely';
import { publicKeyText, secretText, type SigningKeys } from './signatures.ts';

/** The partner that owns an endpoint, and the event. */
export interface Owner {
  shardId: number;
  eventId: number;
  partnerId: number;
}

/** An endpoint with the progress of its consumer, without its secrets. */
export type Endpoint = InferResult<ReturnType<typeof selectEndpoints>>[number];

/** Returns the endpoints of a shard that have these values, oldest first. */
export const listEndpoints = (
  db: Database,
  { shardId, eventId, partnerId, id }: Partial<Owner & ConsumerId> & { shardId: number },
): Promise<Endpoint[]> =>
  selectEndpoints(db)
    .where('endpoint.shard_id', '=', shardId)
    .$if(eventId !== undefined, (query) => query.where('endpoint.event_id', '=', eventId!))
    .$if(partnerId !== undefined, (query) => query.where('endpoint.partner_id', '=', partnerId!))
    .$if(id !== undefined, (query) => query.where('endpoint.id', '=', id!))
    .orderBy('endpoint.created_at')
    .orderBy('endpoint.id')
    .execute();

/** Returns an endpoint; undefined if there is none, or if it has another owner than the one that is given. */
export const findEndpoint = async (
  db: Database,
  endpoint: ConsumerId & Partial<Owner>,
): Promise<Endpoint | undefined> => (await listEndpoints(db, endpoint))[0];

/** Returns an endpoint of any owner, in whichever shard it is. */
export async function findEndpointAnywhere(db: Database, id: string): Promise<Endpoint | undefined> {
  if (!isUuid(id)) return undefined;
  const { answers } = await askShards(await shardIds(db), (shardId) => findEndpoint(db, { shardId, id }));
  return answers.find((endpoint) => endpoint !== undefined);
}

const selectEndpoints = (db: Database) =>
  db
    .selectFrom('webhook_endpoints as endpoint')
    .innerJoin('journal_consumers as consumer', (join) =>
      join.onRef('consumer.shard_id', '=', 'endpoint.shard_id').onRef('consumer.id', '=', 'endpoint.id'),
    )
    .innerJoin('webhook_secrets as secret', (join) =>
      join
        .onRef('secret.shard_id', '=', 'endpoint.shard_id')
        .onRef('secret.endpoint_id', '=', 'endpoint.id')
        .on('secret.ends_at', 'is', null),
    )
    .select([
      'endpoint.shard_id as shardId',
      'endpoint.event_id as eventId',
      'endpoint.partner_id as partnerId',
      'endpoint.id',
      'endpoint.url',
      'endpoint.description',
      'endpoint.types',
      'endpoint.entry_limit as entriesPerMessage',
      'endpoint.disabled_reason as disabledReason',
      'endpoint.paused_by as pausedBy',
      'endpoint.created_at as createdAt',
      'consumer.state',
      'consumer.last_offset as cursor',
      'consumer.failures',
      'consumer.failing_since as failingSince',
      'consumer.next_at as nextAt',
      'secret.public_key as publicKey',
    ])
    .$narrowType<{ types: WebhookEventType[]; disabledReason: Webhook['disabledReason'] }>();

/** Starts an update of an endpoint. */
export const updateEndpoint = (db: Database, { shardId, id }: ConsumerId) =>
  db.updateTable('webhook_endpoints').where('shard_id', '=', shardId).where('id', '=', id);

/** Returns an endpoint as its partner sees it, with its secret if that is new. */
export function webhookOf(endpoint: Endpoint, keys?: SigningKeys): Webhook & { secret?: string } {
  const { state, failingSince, nextAt } = endpoint;
  const isScheduled = state === 'active' && nextAt.getTime() > Date.now();
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    types: endpoint.types,
    entriesPerMessage: endpoint.entriesPerMessage,
    state,
    disabledReason: state === 'disabled' ? endpoint.disabledReason : null,
    cursor: String(endpoint.cursor),
    failures: endpoint.failures,
    dateFailing: failingSince && formatTimestamp(failingSince),
    dateNextAttempt: isScheduled ? formatTimestamp(nextAt) : null,
    publicKey: publicKeyText(endpoint.publicKey),
    dateCreated: formatTimestamp(endpoint.createdAt),
    ...(keys && { secret: secretText(keys.secret) }),
  };
}

/** Returns the latest attempts of an endpoint as its partner sees them, latest first. */
export async function listAttempts(
  db: Database,
  { shardId, id }: ConsumerId,
  limit: number,
): Promise<WebhookAttempt[]> {
  const attempts = db
    .selectFrom('webhook_attempts')
    .select([
      'message_id as messageId',
      sql<string | null>`after_offset::text`.as('previousCursor'),
      sql<string | null>`last_offset::text`.as('cursor'),
      'entries',
      'at as dateAttempted',
      'took_ms as milliseconds',
      'outcome',
      'http_status as httpStatus',
      'error',
    ])
    .$narrowType<{ outcome: WebhookAttempt['outcome'] }>()
    .where('shard_id', '=', shardId)
    .where('endpoint_id', '=', id)
    .orderBy('at', 'desc')
    .orderBy('id')
    .limit(limit);
  return (await attempts.execute()).map((attempt) => ({
    ...attempt,
    dateAttempted: formatTimestamp(attempt.dateAttempted),
  }));
}
