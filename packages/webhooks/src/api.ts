import { answersOf, BODY_LIMIT_BYTES, COMMON_FAILURES, success, WebhookPath } from '@floodgate/contract';
import { defineApi, type Routes } from '@floodgate/http';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { isRefused, webhookActions } from './actions.ts';
import { ON_ONE, ONE, OPERATIONS, type Operation } from './operations.ts';
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
    const actions = webhookActions(WEBHOOK_ALLOW_PRIVATE === 'true');

    function addRoute(api: Routes, operationId: string, operation: Operation): void {
      const { route, run, response, ...schema } = operation;
      const [method, url] = route.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string];
      api.route({
        method,
        url,
        schema: {
          operationId,
          summary: wordsOf(operationId),
          tags: ['Webhooks'],
          failures: COMMON_FAILURES,
          ...(url.startsWith(ONE) && { params: WebhookPath, failures: ON_ONE }),
          ...schema,
          response: answersOf(response),
        },
        bodyLimit: BODY_LIMIT_BYTES,
        handler: async ({ body, query, params, principal, raw }, reply) => {
          const given = Object.assign({}, body, query, params) as Parameters<Operation['run']>[2];
          const isWanted = () => !raw.socket.destroyed;
          const result = await queue(principal.partnerId, isWanted, () => run(db, principal, given, actions));
          return isRefused(result) ? reply.fail(result.refused) : success(result);
        },
      });
    }

    return {
      routes: (api) => Object.entries(OPERATIONS).forEach(([id, operation]) => addRoute(api, id, operation)),
    };
  },
});

/** Returns the words of a name: "Pause Webhook" of pauseWebhook. */
const wordsOf = (name: string) =>
  name.replaceAll(/^[a-z]|[A-Z]/g, (letter) => ` ${letter.toUpperCase()}`).trim();
