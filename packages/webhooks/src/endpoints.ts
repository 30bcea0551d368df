import { randomUUID } from 'node:crypto';
import {
  DEFAULT_WEBHOOK_ENTRY_LIMIT,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_LIMIT,
  type WebhookChange,
  type WebhookRequest,
} from '@floodgate/contract';
import type { ConsumerState, Database } from '@floodgate/database';
import { keepInShard } from '@floodgate/events';
import { sql } from 'kysely';
import { testMessageId } from './messages.ts';
import { createSigningKeys, type SigningKeys } from './signatures.ts';

// What partners and operators do with endpoints. `db` is a transaction where more than one row changes: the consumer's first, as
// where messages are delivered.

/** Whose an endpoint has to be. */
export interface Owner {
  shardId: number;
  eventId: number;
  partnerId: number;
}

/** An endpoint and how far it has come, without its secrets. */
export interface Endpoint extends Owner {
  id: string;
  url: string;
  description: string;
  types: string[];
  entryLimit: number;
  state: ConsumerState;
  disabledReason: string | null;
  cursor: number;
  failures: number;
  failingSince: Date | null;
  /** Past times, too: then it waits for nothing. */
  nextAt: Date;
  publicKey: Buffer;
  createdAt: Date;
}

/** Returns the endpoints of an owner, oldest first. Without a partner: those of the event. */
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

/** Returns an endpoint where it is its owner's, undefined otherwise. */
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

/** Returns an endpoint of a shard, whosever it is. */
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
      'endpoint.created_at as createdAt',
      'consumer.state',
      'consumer.last_offset as cursor',
      'consumer.failures',
      'consumer.failing_since as failingSince',
      'consumer.next_at as nextAt',
      'secret.public_key as publicKey',
    ])
    .where('endpoint.shard_id', '=', shardId);

// Keeps those who add endpoints of the same partner apart. The integer spells "whks".
const ADD_LOCK = 0x77686b73;

/** An endpoint that was just made, and what it is signed with. */
export interface NewEndpoint {
  endpoint: Endpoint;
  keys: SigningKeys;
}

/** Adds an endpoint. Returns null where there are as many as there may be. */
export async function addEndpoint(
  transaction: Database,
  owner: Owner,
  request: WebhookRequest,
): Promise<NewEndpoint | null> {
  const { shardId, eventId, partnerId } = owner;
  await keepInShard(transaction, eventId);
  await sql`select pg_advisory_xact_lock(${ADD_LOCK}, ${partnerId}::integer)`.execute(transaction);
  if ((await listEndpoints(transaction, owner)).length >= WEBHOOK_LIMIT) return null;
  const id = randomUUID();
  const after = request.from === 'now' ? await headOf(transaction, shardId) : 0;
  await transaction
    .insertInto('journal_consumers')
    .values({
      shard_id: shardId,
      id,
      kind: 'webhook',
      event_id: eventId,
      partner_id: partnerId,
      last_offset: after,
    })
    .execute();
  await transaction
    .insertInto('webhook_endpoints')
    .values({
      shard_id: shardId,
      id,
      event_id: eventId,
      partner_id: partnerId,
      url: request.url,
      description: request.description ?? '',
      types: request.types ?? [...WEBHOOK_EVENT_TYPES],
      entry_limit: request.entriesPerMessage ?? DEFAULT_WEBHOOK_ENTRY_LIMIT,
      chain_offset: after,
    })
    .execute();
  const keys = createSigningKeys();
  await addKeys(transaction, shardId, id, keys);
  return { endpoint: (await findEndpoint(transaction, owner, id))!, keys };
}

async function headOf(db: Database, shardId: number): Promise<number> {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', shardId);
  return (await heads.executeTakeFirstOrThrow()).last_offset;
}

const addKeys = (db: Database, shardId: number, endpointId: string, keys: SigningKeys) =>
  db
    .insertInto('webhook_secrets')
    .values({
      shard_id: shardId,
      endpoint_id: endpointId,
      id: randomUUID(),
      secret: keys.secret,
      private_key: keys.privateKey,
      public_key: keys.publicKey,
    })
    .execute();

type EndpointId = Pick<Endpoint, 'shardId' | 'id'>;

const consumerOf = (db: Database, { shardId, id }: EndpointId) =>
  db.updateTable('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id);

const endpointOf = (db: Database, { shardId, id }: EndpointId) =>
  db.updateTable('webhook_endpoints').where('shard_id', '=', shardId).where('id', '=', id);

/** Whoever delivers now goes no further. */
const WITHOUT_LEASE = { lease: null, leased_until: null } as const;
/** It is tried at once, as if it had never failed. */
const afresh = { failures: 0, failing_since: null, next_at: sql<Date>`now()`, ...WITHOUT_LEASE } as const;

/** Changes what is named of an endpoint. Its next attempt is made at once. */
export async function changeEndpoint(
  transaction: Database,
  endpoint: EndpointId,
  change: WebhookChange,
): Promise<void> {
  const { url, description, types, entriesPerMessage: entryLimit } = change;
  const set = {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(types && { types }),
    ...(entryLimit !== undefined && { entry_limit: entryLimit }),
  };
  if (Object.keys(set).length === 0) return;
  // With other types, what was under way is another message.
  await consumerOf(transaction, endpoint)
    .set({ ...afresh, ...(types && { until: null }) })
    .execute();
  await endpointOf(transaction, endpoint).set(set).execute();
}

/** Stops messages until the endpoint is resumed. */
export async function pauseEndpoint(db: Database, endpoint: EndpointId): Promise<void> {
  await consumerOf(db, endpoint)
    .set({ state: 'paused', ...WITHOUT_LEASE })
    .execute();
}

/** Has messages go on where they stopped, whoever stopped them. */
export async function resumeEndpoint(transaction: Database, endpoint: EndpointId): Promise<void> {
  await consumerOf(transaction, endpoint)
    .set({ state: 'active', ...afresh })
    .execute();
  await endpointOf(transaction, endpoint).set({ disabled_reason: null }).execute();
}

/** Deletes an endpoint, with its secrets, its attempts and what its partner was to be told of it. */
export async function deleteEndpoint(transaction: Database, { shardId, id }: EndpointId): Promise<void> {
  for (const table of ['webhook_attempts', 'webhook_secrets'] as const)
    await transaction
      .deleteFrom(table)
      .where('shard_id', '=', shardId)
      .where('endpoint_id', '=', id)
      .execute();
  for (const table of ['journal_consumers', 'webhook_endpoints', 'webhook_notices'] as const)
    await transaction.deleteFrom(table).where('shard_id', '=', shardId).where('id', '=', id).execute();
}

/**
 * Gives an endpoint new keys. Messages are signed with those before as well, for so many hours; those before these have ended.
 * Returns the new ones.
 */
export async function rotateKeys(
  transaction: Database,
  { shardId, id }: EndpointId,
  overlapHours: number,
): Promise<SigningKeys> {
  const ofEndpoint = () =>
    transaction.updateTable('webhook_secrets').where('shard_id', '=', shardId).where('endpoint_id', '=', id);
  await ofEndpoint()
    .set({ ends_at: sql<Date>`now()` })
    .where('ends_at', '>', sql<Date>`now()`)
    .execute();
  await ofEndpoint()
    .set({ ends_at: sql<Date>`now() + make_interval(hours => ${overlapHours}::integer)` })
    .where('ends_at', 'is', null)
    .execute();
  const keys = createSigningKeys();
  await addKeys(transaction, shardId, id, keys);
  return keys;
}

/**
 * Has everything that happened since then told once more. Returns the cursor that messages go on from.
 */
export async function replayEndpoint(
  transaction: Database,
  { shardId, id, eventId, partnerId }: Owner & EndpointId,
  since: Date,
): Promise<number> {
  const first = await transaction
    .selectFrom('journal_segments')
    .select(({ fn, ref }) => fn.min(sql<number>`${ref('last_offset')} - ${ref('count')}`).as('before'))
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('partner_id', 'in', [0, partnerId])
    .where('at', '>=', since)
    .executeTakeFirst();
  const cursor = first?.before ?? (await headOf(transaction, shardId));
  await consumerOf(transaction, { shardId, id })
    .set({ ...afresh, last_offset: cursor, until: null })
    .execute();
  await endpointOf(transaction, { shardId, id }).set({ chain_offset: cursor }).execute();
  return cursor;
}

/** Asks for a message that is only to try the endpoint. Returns its id. It is sent soon, whatever the endpoint's state. */
export async function askForTest(db: Database, endpoint: EndpointId): Promise<string> {
  const messageId = testMessageId();
  await endpointOf(db, endpoint).set({ test_message: messageId }).execute();
  return messageId;
}

/** Returns the latest attempts of an endpoint, latest first. */
export const listAttempts = (db: Database, { shardId, id }: EndpointId, limit: number) =>
  db
    .selectFrom('webhook_attempts')
    .select([
      'message_id as messageId',
      'after_offset as after',
      'last_offset as until',
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
