import { sql } from 'kysely';
import type { Database, Mode } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';
import type { SigningKeys } from '../signatures.ts';
import type { Recipient } from './build-message.ts';

/** An endpoint with everything that a delivery needs. */
export interface EndpointToDeliver extends Recipient {
  shardId: number;
  url: string;
  mode: Mode;
  /** Whether its partner may use the event: it has the grant and a valid key of the event's mode. */
  hasAccess: boolean;
  /** Cursor of the last delivered message. The next message names it. */
  chain: number;
  /** The valid keys, newest first. */
  keys: Pick<SigningKeys, 'secret' | 'privateKey'>[];
  /** Null before the first attempt. */
  lastAttempt: { outcome: string; tookMs: number } | null;
}

// The same rule as for a request to the API.
const hasAccess = sql<boolean>`exists (
  select from event_grants
  join secret_keys on secret_keys.partner_id = event_grants.partner_id
  where event_grants.event_id = endpoint.event_id and event_grants.partner_id = endpoint.partner_id
    and secret_keys.mode = events.mode and secret_keys.revoked_at is null
    and coalesce(secret_keys.expires_at > now(), true)
)`;

/** Returns an endpoint; undefined if it was deleted. */
export async function loadEndpoint(db: Database, of: ConsumerId): Promise<EndpointToDeliver | undefined> {
  const { shardId, id } = of;
  const [endpoint, keys, lastAttempt = null] = await Promise.all([
    db
      .selectFrom('webhook_endpoints as endpoint')
      .innerJoin('events', 'events.id', 'endpoint.event_id')
      .select([
        'endpoint.id',
        'endpoint.shard_id as shardId',
        'url',
        'types',
        'entry_limit as entryLimit',
        'chain_offset as chain',
        'replays',
        'events.ref as eventRef',
        'events.mode',
        hasAccess.as('hasAccess'),
      ])
      .where('endpoint.shard_id', '=', shardId)
      .where('endpoint.id', '=', id)
      .executeTakeFirst(),
    db
      .selectFrom('webhook_secrets')
      .select(['secret', 'private_key as privateKey'])
      .where('shard_id', '=', shardId)
      .where('endpoint_id', '=', id)
      .where(({ eb, or }) => or([eb('ends_at', 'is', null), eb('ends_at', '>', sql<Date>`now()`)]))
      .orderBy('created_at', 'desc')
      .execute(),
    db
      .selectFrom('webhook_attempts')
      .select(['outcome', 'took_ms as tookMs'])
      .where('shard_id', '=', shardId)
      .where('endpoint_id', '=', id)
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst(),
  ]);
  return endpoint && { ...endpoint, keys, lastAttempt };
}
