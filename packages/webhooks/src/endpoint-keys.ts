import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { lockConsumer, type ConsumerId } from '@floodgate/journal';
import { sql } from 'kysely';
import { createSigningKeys, type SigningKeys } from './signatures.ts';

// The signing keys of an endpoint. The API may write them, but not read them.

/** Creates the current keys of an endpoint, and returns them. */
export async function addKeys(transaction: Database, { shardId, id }: ConsumerId): Promise<SigningKeys> {
  const keys = createSigningKeys();
  await transaction
    .insertInto('webhook_secrets')
    .values({
      shard_id: shardId,
      endpoint_id: id,
      id: randomUUID(),
      secret: keys.secret,
      private_key: keys.privateKey,
      public_key: keys.publicKey,
    })
    .execute();
  return keys;
}

/**
 * Gives an endpoint new keys. The previous keys still sign for the overlap; older keys end now. Returns the new keys, or null if the
 * endpoint was deleted.
 */
export async function rotateKeys(
  transaction: Database,
  endpoint: ConsumerId,
  overlapHours: number,
): Promise<SigningKeys | null> {
  // Serializes rotations, so that exactly one key is current.
  if (!(await lockConsumer(transaction, endpoint))) return null;
  const ofEndpoint = () =>
    transaction
      .updateTable('webhook_secrets')
      .where('shard_id', '=', endpoint.shardId)
      .where('endpoint_id', '=', endpoint.id);
  await ofEndpoint()
    .set({ ends_at: sql<Date>`now()` })
    .where('ends_at', '>', sql<Date>`now()`)
    .execute();
  await ofEndpoint()
    .set({ ends_at: sql<Date>`now() + make_interval(hours => ${overlapHours}::integer)` })
    .where('ends_at', 'is', null)
    .execute();
  return addKeys(transaction, endpoint);
}
