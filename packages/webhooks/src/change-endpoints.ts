import {
  DEFAULT_WEBHOOK_ENTRY_LIMIT,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_LIMIT,
  type WebhookChange,
  type WebhookRequest,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { keepInShard } from '@floodgate/events';
import {
  addConsumer,
  deleteConsumer,
  journalHead,
  pauseConsumer,
  resumeConsumer,
  retryConsumer,
  type ConsumerId,
} from '@floodgate/journal';
import { sql } from 'kysely';
import { addKeys } from './endpoint-keys.ts';
import { findEndpoint, listEndpoints, type Endpoint, type Owner } from './endpoints.ts';
import { testMessageId } from './messages.ts';
import type { SigningKeys } from './signatures.ts';

// What partners and operators do with endpoints. The consumer of an endpoint is changed before the endpoint itself, as who delivers
// to it does (webhook_delivered): the other way round, both could wait for each other.

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
  const fromNow = request.from === 'now';
  const { id, after } = await addConsumer(transaction, {
    shardId,
    kind: 'webhook',
    eventId,
    partnerId,
    fromNow,
  });
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
  const keys = await addKeys(transaction, { shardId, id });
  return { endpoint: (await findEndpoint(transaction, owner, id))!, keys };
}

const updateEndpoint = (db: Database, { shardId, id }: ConsumerId) =>
  db.updateTable('webhook_endpoints').where('shard_id', '=', shardId).where('id', '=', id);

/** Changes what is named of an endpoint. Its next attempt is made at once. */
export async function changeEndpoint(
  transaction: Database,
  endpoint: ConsumerId,
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
  await retryConsumer(transaction, endpoint, types ? { until: null } : {});
  await updateEndpoint(transaction, endpoint).set(set).execute();
}

/** Stops messages until the endpoint is resumed. */
export const pauseEndpoint = (db: Database, endpoint: ConsumerId) => pauseConsumer(db, endpoint);

/** Has messages go on where they stopped, whoever stopped them. */
export async function resumeEndpoint(transaction: Database, endpoint: ConsumerId): Promise<void> {
  await resumeConsumer(transaction, endpoint);
  await updateEndpoint(transaction, endpoint).set({ disabled_reason: null }).execute();
}

/** Deletes an endpoint, with its secrets, its attempts and what its partner was to be told of it. */
export async function deleteEndpoint(transaction: Database, endpoint: ConsumerId): Promise<void> {
  const { shardId, id } = endpoint;
  await deleteConsumer(transaction, endpoint);
  for (const table of ['webhook_attempts', 'webhook_secrets'] as const)
    await transaction
      .deleteFrom(table)
      .where('shard_id', '=', shardId)
      .where('endpoint_id', '=', id)
      .execute();
  for (const table of ['webhook_endpoints', 'webhook_notices'] as const)
    await transaction.deleteFrom(table).where('shard_id', '=', shardId).where('id', '=', id).execute();
}

/**
 * Has everything that happened since then told once more. Returns the cursor that messages go on from.
 */
export async function replayEndpoint(
  transaction: Database,
  { shardId, id, eventId, partnerId }: Owner & ConsumerId,
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
  const cursor = first?.before ?? (await journalHead(transaction, shardId));
  await retryConsumer(transaction, { shardId, id }, { cursor, until: null });
  await updateEndpoint(transaction, { shardId, id })
    // Receivers drop messages that they know by their ids.
    .set(({ eb, ref }) => ({ chain_offset: cursor, replays: eb(ref('replays'), '+', 1) }))
    .execute();
  return cursor;
}

/** Asks for a message that is only to try the endpoint. Returns its id. It is sent soon, whatever the endpoint's state. */
export async function askForTest(db: Database, endpoint: ConsumerId): Promise<string> {
  const messageId = testMessageId();
  await updateEndpoint(db, endpoint).set({ test_message: messageId }).execute();
  return messageId;
}
