import { isUuid } from '@floodgate/contract';
import { askShards, shardIds, type ConsumerState, type Database } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';

// Reads endpoints, without their secrets.

/** The partner that owns an endpoint, and the event. */
export interface Owner {
  shardId: number;
  eventId: number;
  partnerId: number;
}

/** Who paused an endpoint. */
export type PausedBy = 'partner' | 'operator';

/** An endpoint with the progress of its consumer. */
export interface Endpoint extends Owner, ConsumerId {
  url: string;
  description: string;
  types: string[];
  entryLimit: number;
  state: ConsumerState;
  disabledReason: string | null;
  pausedBy: PausedBy | null;
  cursor: number;
  failures: number;
  failingSince: Date | null;
  /** A time in the past means that no attempt is scheduled. */
  nextAt: Date;
  publicKey: Buffer;
  createdAt: Date;
}

/** Returns the endpoints of an owner, oldest first. Without a partner: those of all partners under the event. */
export async function listEndpoints(
  db: Database,
  { shardId, eventId, partnerId }: Omit<Owner, 'partnerId'> & { partnerId?: number | undefined },
): Promise<Endpoint[]> {
  return selectEndpoints(db, shardId)
    .where('endpoint.event_id', '=', eventId)
    .$if(partnerId !== undefined, (query) => query.where('endpoint.partner_id', '=', partnerId!))
    .orderBy('endpoint.created_at')
    .orderBy('endpoint.id')
    .execute();
}

/** Returns an endpoint, or undefined if it has another owner. */
export async function findEndpoint(
  db: Database,
  { shardId, eventId, partnerId }: Owner,
  id: string,
): Promise<Endpoint | undefined> {
  return selectEndpoints(db, shardId)
    .where('endpoint.id', '=', id)
    .where('endpoint.event_id', '=', eventId)
    .where('endpoint.partner_id', '=', partnerId)
    .executeTakeFirst();
}

/** Returns an endpoint of any owner, in whichever shard it is. */
export async function findEndpointAnywhere(db: Database, id: string): Promise<Endpoint | undefined> {
  if (!isUuid(id)) return undefined;
  const { answers } = await askShards(await shardIds(db), (shardId) => findEndpointIn(db, shardId, id));
  return answers.find((endpoint) => endpoint !== undefined);
}

/** Returns an endpoint of a shard, of any owner. */
export const findEndpointIn = (db: Database, shardId: number, id: string): Promise<Endpoint | undefined> =>
  selectEndpoints(db, shardId).where('endpoint.id', '=', id).executeTakeFirst();

const selectEndpoints = (db: Database, shardId: number) =>
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
      'endpoint.entry_limit as entryLimit',
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
    .where('endpoint.shard_id', '=', shardId);

/** Starts an update of an endpoint. */
export const updateEndpoint = (db: Database, { shardId, id }: ConsumerId) =>
  db.updateTable('webhook_endpoints').where('shard_id', '=', shardId).where('id', '=', id);

/** Returns the latest attempts of an endpoint, latest first. */
export const listAttempts = (db: Database, { shardId, id }: ConsumerId, limit: number) =>
  db
    .selectFrom('webhook_attempts')
    .select([
      'message_id as messageId',
      'after_offset as after',
      'last_offset as last',
      'entries',
      'at',
      'took_ms as tookMs',
      'outcome',
      'http_status as httpStatus',
      'error',
    ])
    .where('shard_id', '=', shardId)
    .where('endpoint_id', '=', id)
    .orderBy('at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
