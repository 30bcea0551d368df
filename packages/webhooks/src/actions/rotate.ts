import { Type } from '@sinclair/typebox';
import { DEFAULT_WEBHOOK_OVERLAP_HOURS, WebhookPath, WebhookRotation } from '@floodgate/contract';
import { rotateKeys } from '../endpoint-keys.ts';
import { onWebhook } from './webhook-action.ts';

/** Gives a webhook a new secret. The previous one still signs for the overlap. */
export const rotateWebhookAction = onWebhook({
  name: 'rotate',
  input: Type.Object({ ...WebhookPath.properties, ...WebhookRotation.properties }),
  change: async (transaction, endpoint, { overlapHours = DEFAULT_WEBHOOK_OVERLAP_HOURS }) => ({
    // Its consumer is locked, so it exists.
    keys: (await rotateKeys(transaction, endpoint, overlapHours))!,
  }),
  details: ({ overlapHours = DEFAULT_WEBHOOK_OVERLAP_HOURS }) => ({ rotated: true, overlapHours }),
});
