import { sql } from 'kysely';
import type { Database, Mode } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';
import { createSigner, type Signer } from '../signatures.ts';
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
  /** Of the last attempt. Null before the first one. */
  outcome: string | null;
  tookMs: number | null;
  /** Signs with the valid keys, newest first. */
  sign: Signer;
}

interface Row extends Omit<EndpointToDeliver, 'sign'> {
  secrets: Buffer[];
  privateKeys: Buffer[];
}

/** Returns an endpoint; undefined if it was deleted. */
export async function loadEndpoint(
  db: Database,
  { shardId, id }: ConsumerId,
): Promise<EndpointToDeliver | undefined> {
  const validKeys = (column: string) => sql`array(
    select ${sql.ref(column)} from webhook_secrets
    where shard_id = ${shardId} and endpoint_id = ${id} and (ends_at is null or ends_at > now())
    order by created_at desc
  )`;
  // Access follows the same rule as for a request to the API.
  const { rows } = await sql<Row>`
    select endpoint.id, endpoint.shard_id as "shardId", url, types, entry_limit as "entriesPerMessage",
      chain_offset as chain, replays, event.ref as "eventRef", event.mode, attempt.outcome, attempt.took_ms as "tookMs",
      ${validKeys('secret')} as secrets, ${validKeys('private_key')} as "privateKeys",
      exists (
        select from event_grants permission join secret_keys key on key.partner_id = permission.partner_id
        where permission.event_id = event.id and permission.partner_id = endpoint.partner_id
          and key.mode = event.mode and key.revoked_at is null and coalesce(key.expires_at > now(), true)
      ) as "hasAccess"
    from webhook_endpoints endpoint
    join events event on event.id = endpoint.event_id
    left join (
      select outcome, took_ms from webhook_attempts
      where shard_id = ${shardId} and endpoint_id = ${id} order by at desc limit 1
    ) attempt on true
    where endpoint.shard_id = ${shardId} and endpoint.id = ${id}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { secrets, privateKeys, ...endpoint } = row;
  const keys = secrets.map((secret, index) => ({ secret, privateKey: privateKeys[index]! }));
  return { ...endpoint, sign: createSigner(keys) };
}
