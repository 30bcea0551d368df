import { WebhookPath } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';
import { updateEndpoint } from '../endpoints.ts';
import { testMessageId } from '../deliver/build-message.ts';
import { onWebhook } from './webhook-action.ts';

/** Sends a test message, whatever the state of the webhook. */
export const testWebhookAction = onWebhook({
  name: 'test',
  input: WebhookPath,
  change: async (transaction, endpoint) => ({ messageId: await requestTest(transaction, endpoint) }),
  details: (_input, { messageId }) => ({ messageId }),
});

/** Requests a test message. Returns its id. The delivery process sends it. */
export async function requestTest(db: Database, endpoint: ConsumerId): Promise<string> {
  const messageId = testMessageId();
  await updateEndpoint(db, endpoint).set({ test_message: messageId }).execute();
  return messageId;
}
