import { WebhookPath } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { lockConsumer, pauseConsumer, resumeConsumer, type ConsumerId } from '@floodgate/journal';
import type { Actor } from '@floodgate/audit';
import { updateEndpoint, type PausedBy } from '../endpoints.ts';
import { onWebhook } from './webhook-action.ts';

const kindOf = (actor: Actor): PausedBy => (typeof actor === 'string' ? 'operator' : 'partner');

/** Stops the messages of a webhook until it is resumed. */
export const pauseWebhookAction = onWebhook({
  name: 'pause',
  input: WebhookPath,
  change: async (transaction, endpoint, _input, actor) => {
    await pauseEndpoint(transaction, endpoint, kindOf(actor));
    return {};
  },
});

/** Continues the messages of a webhook where they stopped. A partner cannot resume what an operator paused. */
export const resumeWebhookAction = onWebhook({
  name: 'resume',
  input: WebhookPath,
  change: async (transaction, endpoint, _input, actor) =>
    (await resumeEndpoint(transaction, endpoint, kindOf(actor)))
      ? {}
      : { refused: '72', reason: 'the operator has paused this webhook' },
});

export async function pauseEndpoint(
  transaction: Database,
  endpoint: ConsumerId,
  by: PausedBy = 'partner',
): Promise<void> {
  await pauseConsumer(transaction, endpoint);
  // A partner's pause does not replace an operator's.
  const pausable = updateEndpoint(transaction, endpoint).$if(by === 'partner', (query) =>
    query.where('paused_by', 'is', null),
  );
  await pausable.set({ paused_by: by }).execute();
}

/** Returns false for a partner if an operator paused the endpoint. */
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
