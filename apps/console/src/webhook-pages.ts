import type { ShownWebhook } from '@floodgate/webhooks/console';
import { cellsOf, type Cells } from './view.ts';

/** A webhook as operators see it. Its secret is known only after it was created. */
export const webhookCells = (webhook: ShownWebhook): Cells => ({
  ...cellsOf(webhook, 'id', 'publicKey', 'url', 'description', 'types', 'entriesPerMessage'),
  ...cellsOf(webhook, 'state', 'disabledReason', 'cursor', 'failures'),
  ...(webhook.include && cellsOf(webhook, 'include')),
  ...cellsOf(webhook, 'dateFailing', 'dateNextAttempt', 'dateCreated'),
  ...(webhook.secret && cellsOf(webhook, 'secret')),
  ...cellsOf(webhook, 'partnerId', 'eventId', 'pausedBy'),
});
