import { ATTEMPT_COLUMNS, type ShownWebhook } from '@floodgate/webhooks/console';
import type { FastifyInstance } from 'fastify';
import { adder, type Show } from './add-page.ts';
import type { ConsoleContext } from './operations.ts';
import { actions, cellsOf, fields, table, type Cells } from './view.ts';

/** Adds the page of a webhook. */
export function addWebhookPages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)('/webhooks/:webhookId', ['webhooks:read'], showWebhook);
}

/** A webhook as operators see it. Its secret is known only after it was created. */
export const webhookCells = (webhook: ShownWebhook): Cells => ({
  ...cellsOf(webhook, 'id', 'publicKey', 'url', 'description', 'types', 'entriesPerMessage'),
  ...cellsOf(webhook, 'state', 'disabledReason', 'cursor', 'failures'),
  ...(webhook.include && cellsOf(webhook, 'include')),
  ...cellsOf(webhook, 'dateFailing', 'dateNextAttempt', 'dateCreated'),
  ...(webhook.secret && cellsOf(webhook, 'secret')),
  ...cellsOf(webhook, 'partnerId', 'eventId', 'pausedBy'),
});

const showWebhook: Show = async ({ operations, params: { webhookId }, read, action }) => {
  const webhook = (await read(operations.webhookShow, { webhookId }))!;
  return [
    `Webhook of partner ${webhook.partnerId}`,
    actions(
      action(operations.webhookPause, { webhookId }, 'Pause'),
      action(operations.webhookResume, { webhookId }, 'Resume'),
      action(operations.webhookTest, { webhookId }, 'Test'),
      action(operations.webhookReplay, { webhookId }, 'Replay'),
      action(operations.webhookUpdate, { webhookId }, 'Update'),
      action(operations.webhookRotate, { webhookId }, 'Rotate'),
      action(operations.webhookDelete, { webhookId }, 'Delete'),
    ),
    fields({ ...webhookCells(webhook), ...cellsOf(webhook, 'oldestMs', 'notice') }),
    table('Latest attempts', await read(operations.webhookAttempts, { webhookId }), (attempt) =>
      cellsOf(attempt, ...ATTEMPT_COLUMNS),
    ),
  ];
};
