import { createFairQueue, defineApi } from '@floodgate/http';
import type { InTurn } from './route-terms.ts';
import { addWebhookRoutes } from './routes.ts';
import { allowPrivateSetting } from './settings.ts';

/** One for the fair queue, and one more while the first waits for a lock. */
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
    const queue = createFairQueue({ answerWithinMs, abandonsStarted: false });
    const inTurn: InTurn = ({ principal, raw }, work) =>
      queue(
        principal.partnerId,
        () => !raw.socket.destroyed,
        () => work(db),
      );
    return { routes: (api) => addWebhookRoutes(api, inTurn, WEBHOOK_ALLOW_PRIVATE === 'true') };
  },
});
