import { createFairQueue } from '@floodgate/service/fair-queue';
import { defineApi } from '@floodgate/http';
import { addWebhookRoutes, type InQueue } from './routes.ts';
import { allowPrivateSetting } from './settings.ts';

/** One for the fair queue, and one more while the first waits for a lock. */
const CONNECTIONS = 2;

/** Partners manage their webhooks. Another process sends the messages. */
export const webhooksApi = defineApi({
  settings: allowPrivateSetting,
  open({ openPool, answerWithinMs }, { WEBHOOK_ALLOW_PRIVATE }) {
    const db = openPool({
      purpose: 'webhooks',
      maxConnections: CONNECTIONS,
      connectTimeoutMs: answerWithinMs,
      statementTimeoutMs: answerWithinMs,
    });
    const queue = createFairQueue({ answerWithinMs, abandonsStarted: false });
    const inQueue: InQueue = ({ principal, raw }, work) =>
      queue(
        principal.partnerId,
        () => !raw.socket.destroyed,
        () => work(db),
      );
    return { routes: (api) => addWebhookRoutes(api, inQueue, WEBHOOK_ALLOW_PRIVATE === 'true') };
  },
});
