import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { lockConsumer, type ConsumerId } from '@floodgate/journal';
import { sql } from 'kysely';
import { createSigningKeys, type SigningKeys } from './signatures.ts';

// What the messages of an endpoint are signed with. The API writes it and cannot read it back.

/** Makes keys for an endpoint that has none, and returns them. */
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
 * Gives an endpoint new keys. Messages are signed with those before as well, for so many hours; those before these have ended.
 * Returns the new ones; null where the endpoint was deleted meanwhile.
 */
export async function rotateKeys(
  transaction: Database,
  endpoint: ConsumerId,
  overlapHours: number,
): Promise<SigningKeys | null> {
  // Who rotates at the same time sees these keys then, and ends them: one is current.
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
