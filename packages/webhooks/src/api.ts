import {
  answersOf,
  COMMON_FAILURES,
  DEFAULT_LIMIT,
  success,
  Webhook,
  WebhookAttempts,
  WebhookAttemptsQuery,
  WebhookChange,
  WebhookList,
  WebhookPath,
  WebhookReplay,
  WebhookRequest,
  WebhookRotation,
  WebhookTest,
  WebhookWithSecret,
  type FailureCode,
} from '@floodgate/contract';
import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { defineApi, type FastifySchema, type Principal } from '@floodgate/http';
import { createFairQueue } from '@floodgate/service/fair-queue';
import {
  isRefused,
  NO_SUCH_WEBHOOK,
  webhookActions,
  type Refused,
  type WebhookActionName,
  type WebhookActions,
} from './actions.ts';
import { findEndpoint, listAttempts, listEndpoints, webhookOf } from './endpoints.ts';
import { allowPrivateSetting } from './settings.ts';

/** An operation of a partner on its webhooks under an event. By default its summary is the words of its id, and it returns the webhook. */
interface Operation extends FastifySchema {
  /** Method and path. */
  route: string;
  /** `given` has the fields of the body, the query and the path. */
  run: (
    db: Database,
    principal: Principal,
    given: { webhookId: string; limit?: string },
    actions: WebhookActions,
  ) => Promise<object | Refused>;
}

/** The path of one webhook, and the failures of operations on it. */
const ONE = '/webhooks/:webhookId';
const ON_ONE: FailureCode[] = [...COMMON_FAILURES, '11', '70'];
const COMMON_SCHEMA = { tags: ['Webhooks'], failures: COMMON_FAILURES, response: answersOf(Webhook) };

/** The operations by their operationId. */
const OPERATIONS: Record<string, Operation> = {
  listWebhooks: {
    route: 'GET /webhooks',
    description: 'Lists your webhooks under this event, oldest first.',
    response: answersOf(WebhookList),
    run: async (db, principal) => (await listEndpoints(db, principal)).map((endpoint) => webhookOf(endpoint)),
  },
  getWebhook: {
    route: `GET ${ONE}`,
    description: 'Returns a webhook with its progress: cursor, failures and next attempt.',
    run: async (db, principal, { webhookId: id }) => {
      const endpoint = await findEndpoint(db, { ...principal, id });
      return endpoint ? webhookOf(endpoint) : NO_SUCH_WEBHOOK;
    },
  },
  listWebhookAttempts: {
    route: `GET ${ONE}/attempts`,
    summary: 'List Attempts',
    description: 'Lists the latest attempts to send messages, latest first. Attempts are kept for 30 days.',
    querystring: WebhookAttemptsQuery,
    response: answersOf(WebhookAttempts),
    run: async (db, principal, { webhookId: id, limit = DEFAULT_LIMIT }) => {
      const endpoint = await findEndpoint(db, { ...principal, id });
      return endpoint ? listAttempts(db, endpoint, Number(limit)) : NO_SUCH_WEBHOOK;
    },
  },
  createWebhook: act('create', {
    route: 'POST /webhooks',
    description:
      'Creates a webhook, which sends the changes of your registrations under this event to a URL. Only this answer contains the secret. ' +
      'You may have ten webhooks under an event.',
    failures: [...COMMON_FAILURES, '11', '71'],
    body: WebhookRequest,
    response: answersOf(WebhookWithSecret),
  }),
  changeWebhook: act('update', {
    route: `PATCH ${ONE}`,
    description:
      'Changes the given fields. At least one is required, and unknown fields are ignored. If the webhook is active, its next attempt starts at once.',
    body: WebhookChange,
  }),
  replayWebhook: act('replay', {
    description: 'Resends all entries since a time that are still kept. The messages have new ids.',
    body: WebhookReplay,
  }),
  rotateWebhookSecret: act('rotate', {
    description:
      'Creates a new secret and a new key. Only this answer contains the secret. During the overlap, messages are also signed with the ' +
      'previous ones. The body is optional, and so are its fields.',
    body: WebhookRotation,
    response: answersOf(WebhookWithSecret),
  }),
  pauseWebhook: act('pause', {
    description:
      'Stops the messages of a webhook. Resume Webhook sends the entries that were not sent. Safe to repeat.',
  }),
  resumeWebhook: act('resume', {
    description:
      'Resumes the messages where they stopped, also after the webhook was disabled. If the operator paused the webhook, only the ' +
      'operator can resume it, and the answer is 72. Safe to repeat.',
    failures: [...ON_ONE, '72'],
  }),
  testWebhook: act('test', {
    description:
      'Sends a signed message of the type webhook.test, in any state of the webhook. List Attempts shows the outcome.',
    response: answersOf(WebhookTest),
  }),
  deleteWebhook: act('delete', {
    route: `DELETE ${ONE}`,
    description: 'Deletes a webhook with its secrets and attempts. Returns the deleted webhook.',
  }),
};

/** Returns the operation that performs an action as the partner: by default a POST to the action's name. */
function act(name: WebhookActionName, operation: Omit<Operation, 'run' | 'route'> & { route?: string }) {
  const run: Operation['run'] = async (db, principal, given, actions) => {
    const { eventId, partnerId } = principal;
    const result = await perform(db, actions[name], { ...given, eventId, partnerId }, principal);
    if (isRefused(result)) return result;
    const { endpoint, keys, messageId } = result;
    return messageId === undefined ? webhookOf(endpoint, keys) : { messageId };
  };
  return { route: `POST ${ONE}/${name}`, run, ...operation };
}

/** One for the fair queue, and another while the first waits for a lock. */
const CONNECTIONS = 2;

/** The routes on which partners manage their webhooks. The delivery process sends the messages. */
export const webhooksApi = defineApi({
  settings: allowPrivateSetting,
  open({ openPool, answerWithinMs, clock }, { WEBHOOK_ALLOW_PRIVATE }) {
    const db = openPool({
      purpose: 'webhooks',
      maxConnections: CONNECTIONS,
      connectTimeoutMs: answerWithinMs,
      statementTimeoutMs: answerWithinMs,
    });
    const queue = createFairQueue({ answerWithinMs, timeoutAppliesToRunning: false, clock });
    const actions = webhookActions(WEBHOOK_ALLOW_PRIVATE === 'true');
    return {
      routes(api) {
        for (const [operationId, { route, run, ...schema }] of Object.entries(OPERATIONS)) {
          const [method, url] = route.split(' ') as [string, string];
          const ofPath = url.startsWith(ONE) ? { params: WebhookPath, failures: ON_ONE } : {};
          // A word of "pauseWebhook" starts at each capital.
          const summary = operationId
            .replaceAll(/^[a-z]|[A-Z]/g, (letter) => ` ${letter.toUpperCase()}`)
            .trim();
          api.route({
            method,
            url,
            schema: { operationId, summary, ...COMMON_SCHEMA, ...ofPath, ...schema },
            handler: async ({ body, query, params, principal, raw }, reply) => {
              const given = Object.assign({}, body, query, params) as Parameters<typeof run>[2];
              const work = () => run(db, principal, given, actions);
              const result = await queue(principal.partnerId, () => !raw.socket.destroyed, work);
              return isRefused(result) ? reply.fail(result.refused) : success(result);
            },
          });
        }
      },
    };
  },
});
