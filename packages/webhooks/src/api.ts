import { defineApi } from '@floodgate/http';
import { addWebhookRoutes } from './routes.ts';
import { allowPrivateSetting } from './settings.ts';

/** Partners manage these few and seldom: they may take turns. */
const CONNECTIONS = 2;

/** Lets partners manage their webhooks. Who delivers to them is another process. */
export const webhooksApi = defineApi({
  settings: allowPrivateSetting,
  open({ openPool, answerWithinMs }, { WEBHOOK_ALLOW_PRIVATE }) {
    const db = openPool({
      purpose: 'webhooks',
      maxConnections: CONNECTIONS,
      connectTimeoutMs: answerWithinMs,
      statementTimeoutMs: answerWithinMs,
    });
    return { routes: (api) => addWebhookRoutes(api, db, WEBHOOK_ALLOW_PRIVATE === 'true') };
  },
});
