import { WebhookPath } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { deleteConsumer, type ConsumerId } from '@floodgate/journal';
import { onWebhook } from './webhook-action.ts';

export const deleteWebhookAction = onWebhook({
  name: 'delete',
  input: WebhookPath,
  change: async (transaction, endpoint) => {
    await deleteEndpoint(transaction, endpoint);
    return {};
  },
});

/**
 * Deletes an endpoint with its secrets. Its attempts can be millions of rows: they are no longer visible, and expireAttempts
 * deletes them.
 */
export async function deleteEndpoint(transaction: Database, endpoint: ConsumerId): Promise<void> {
  const { shardId, id } = endpoint;
  await deleteConsumer(transaction, endpoint);
  await transaction
    .deleteFrom('webhook_secrets')
    .where('shard_id', '=', shardId)
    .where('endpoint_id', '=', id)
    .execute();
  await transaction
    .deleteFrom('webhook_endpoints')
    .where('shard_id', '=', shardId)
    .where('id', '=', id)
    .execute();
}
