import { Type } from '@sinclair/typebox';
import { defineAction, Id } from '@floodgate/audit';
import {
  DEFAULT_WEBHOOK_ENTRY_LIMIT,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_LIMIT,
  WebhookRequest,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findShard, keepInShard } from '@floodgate/events';
import { addConsumer } from '@floodgate/journal';
import { sql } from 'kysely';
import { addKeys } from '../endpoint-keys.ts';
import { findEndpoint, listEndpoints, type Endpoint, type Owner, type PausedBy } from '../endpoints.ts';
import type { SigningKeys } from '../signatures.ts';
import { checkFields } from '../urls.ts';
import { audited, subjectOf, type Refused } from './webhook-action.ts';

// Serializes the creation of a partner's endpoints, which are counted. The integer spells "whks".
const ADD_LOCK = 0x77686b73;

/** A new endpoint. Nothing else returns its secret. */
export interface NewEndpoint {
  endpoint: Endpoint;
  keys: SigningKeys;
}

/** Adds a webhook of a partner under an event. */
export const createWebhookAction = (allowsHttp: boolean) =>
  defineAction({
    name: 'webhook.create',
    input: Type.Object({ eventId: Id, partnerId: Id, ...WebhookRequest.properties }),
    check: (input) => checkFields(input, allowsHttp),
    run: async (
      transaction,
      { eventId, partnerId, ...request },
      note,
      actor,
    ): Promise<NewEndpoint | Refused> => {
      const shardId = await findShard(transaction, eventId);
      if (shardId === undefined) return { refused: '21', reason: 'no such event' };
      const grants = transaction
        .selectFrom('event_grants')
        .select('event_id')
        .where('event_id', '=', eventId)
        .where('partner_id', '=', partnerId);
      if (!(await grants.executeTakeFirst()))
        return { refused: '21', reason: `event ${eventId} is not open to partner ${partnerId}` };
      const pausedBy = typeof actor === 'string' ? 'operator' : 'partner';
      const added = await addEndpoint(transaction, { shardId, eventId, partnerId }, request, pausedBy);
      if (!added) return { refused: '71', reason: 'this partner has the maximum number of webhooks already' };
      note(subjectOf(added.endpoint.id), { after: audited(added.endpoint) });
      return added;
    },
  });

/** Adds an endpoint. Returns null if there are as many as allowed. */
export async function addEndpoint(
  transaction: Database,
  owner: Owner,
  request: WebhookRequest,
  pausedBy: PausedBy = 'partner',
): Promise<NewEndpoint | null> {
  const { shardId, eventId, partnerId } = owner;
  await keepInShard(transaction, eventId);
  await sql`select pg_advisory_xact_lock(${ADD_LOCK}, ${partnerId}::integer)`.execute(transaction);
  if ((await listEndpoints(transaction, owner)).length >= WEBHOOK_LIMIT) return null;
  const { id, cursor } = await addConsumer(transaction, {
    shardId,
    kind: 'webhook',
    eventId,
    partnerId,
    fromNow: request.from === 'now',
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
      chain_offset: cursor,
      paused_by: request.paused ? pausedBy : null,
    })
    .execute();
  const keys = await addKeys(transaction, { shardId, id });
  return { endpoint: (await findEndpoint(transaction, owner, id))!, keys };
}
