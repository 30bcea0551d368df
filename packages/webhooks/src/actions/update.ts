import { Type } from '@sinclair/typebox';
import { WebhookChange, WebhookPath } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { retryConsumer, type ConsumerId } from '@floodgate/journal';
import { updateEndpoint } from '../endpoints.ts';
import { checkFields } from '../urls.ts';
import { onWebhook } from './webhook-action.ts';

const FIELDS = Object.keys(WebhookChange.properties) as (keyof WebhookChange)[];

/** Changes the URL or other fields of a webhook. */
export const updateWebhookAction = (allowsHttp: boolean) =>
  onWebhook({
    name: 'update',
    input: Type.Object({ ...WebhookPath.properties, ...WebhookChange.properties }),
    check: (change) =>
      FIELDS.some((name) => change[name] !== undefined)
        ? checkFields(change, allowsHttp)
        : { '': `At least one of these fields is required: ${FIELDS.join(', ')}` },
    change: async (transaction, endpoint, change) => {
      await changeEndpoint(transaction, endpoint, change);
      return {};
    },
    details: ({ url }) => (url === undefined ? undefined : { url: 'changed' }),
  });

/** Changes the given fields of an endpoint. The next attempt is due at once. */
export async function changeEndpoint(
  transaction: Database,
  endpoint: ConsumerId,
  { url, description, types, entriesPerMessage }: WebhookChange,
): Promise<void> {
  // With other types the range in flight would become another message, so it is not repeated.
  await retryConsumer(transaction, endpoint, types ? { inFlightUntil: null } : {});
  await updateEndpoint(transaction, endpoint)
    .set({
      ...(url !== undefined && { url }),
      ...(description !== undefined && { description }),
      ...(types && { types }),
      ...(entriesPerMessage !== undefined && { entry_limit: entriesPerMessage }),
    })
    .execute();
}
