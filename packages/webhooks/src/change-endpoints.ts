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
  lockConsumer,
  pauseConsumer,
  resumeConsumer,
  retryConsumer,
  type ConsumerId,
} from '@floodgate/journal';
import { sql } from 'kysely';
import { addKeys } from './endpoint-keys.ts';
import { findEndpoint, listEndpoints, type Endpoint, type Owner, type PausedBy } from './endpoints.ts';
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
    isPaused: request.paused ?? false,
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
      paused_by: request.paused ? 'partner' : null,
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
export async function pauseEndpoint(
  transaction: Database,
  endpoint: ConsumerId,
  by: PausedBy = 'partner',
): Promise<true> {
  await pauseConsumer(transaction, endpoint);
  // A partner's pause does not replace an operator's.
  const pausable = updateEndpoint(transaction, endpoint).$if(by === 'partner', (query) =>
    query.where('paused_by', 'is', null),
  );
  await pausable.set({ paused_by: by }).execute();
  return true;
}

/** Continues to send messages where they stopped. Returns false for a partner if an operator paused the endpoint. */
export async function resumeEndpoint(
  transaction: Database,
  endpoint: ConsumerId,
  by: PausedBy = 'partner',
): Promise<boolean> {
  await lockConsumer(transaction, endpoint);
  const { shardId, id } = endpoint;
  const paused = transaction.selectFrom('webhook_endpoints').select('paused_by as by');
  const pause = await paused.where('shard_id', '=', shardId).where('id', '=', id).executeTakeFirst();
  if (by === 'partner' && pause?.by === 'operator') return false;
  await resumeConsumer(transaction, endpoint);
  await updateEndpoint(transaction, endpoint).set({ disabled_reason: null, paused_by: null }).execute();
  return true;
}

/**
 * Deletes an endpoint with its secrets and its notice. Its attempts can be millions of rows: they are no longer visible, and
 * expireAttempts deletes them.
 */
export async function deleteEndpoint(transaction: Database, endpoint: ConsumerId): Promise<void> {
  const { shardId, id } = endpoint;
  await deleteConsumer(transaction, endpoint);
  await transaction
    .deleteFrom('webhook_secrets')
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
