import type { TSchema } from '@sinclair/typebox';
import {
  COMMON_FAILURES,
  DEFAULT_LIMIT,
  Webhook,
  WebhookAttempts,
  WebhookAttemptsQuery,
  WebhookChange,
  WebhookList,
  WebhookReplay,
  WebhookRequest,
  WebhookRotation,
  WebhookTest,
  WebhookWithSecret,
  type FailureCode,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Principal } from '@floodgate/http';
import {
  isRefused,
  NO_SUCH_WEBHOOK,
  perform,
  type Refused,
  type WebhookActionName,
  type WebhookActions,
} from './actions.ts';
import { findEndpoint, listAttempts, listEndpoints, webhookOf } from './endpoints.ts';

/** An operation of a partner on its webhooks under an event. */
export interface Operation {
  /** Method and path. */
  route: string;
  /** By default the words of its operationId. */
  summary?: string;
  description: string;
  failures?: FailureCode[];
  querystring?: TSchema;
  body?: TSchema;
  response: TSchema;
  /** `given` has the fields of the body, the query and the path. */
  run: (
    db: Database,
    principal: Principal,
    given: { webhookId: string; limit?: string },
    actions: WebhookActions,
  ) => Promise<object | Refused>;
}

/** The path of one webhook, and what an operation on it may answer. */
export const ONE = '/webhooks/:webhookId';
export const ON_ONE: FailureCode[] = [...COMMON_FAILURES, '11', '70'];

/** The operations by their operationId. */
export const OPERATIONS: Record<string, Operation> = {
  listWebhooks: {
    route: 'GET /webhooks',
    description: 'Lists your webhooks under this event, oldest first.',
    response: WebhookList,
    run: async (db, principal) => (await listEndpoints(db, principal)).map((endpoint) => webhookOf(endpoint)),
  },
  getWebhook: {
    route: `GET ${ONE}`,
    description: 'Returns a webhook with its progress: cursor, failures and next attempt.',
    response: Webhook,
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
    response: WebhookAttempts,
    run: async (db, principal, { webhookId: id, limit = DEFAULT_LIMIT }) => {
      const endpoint = await findEndpoint(db, { ...principal, id });
      return endpoint ? listAttempts(db, endpoint, Number(limit)) : NO_SUCH_WEBHOOK;
    },
  },
  createWebhook: {
    route: 'POST /webhooks',
    description:
      'Creates a webhook, which sends the changes of your registrations under this event to a URL. The secret is only in this answer. ' +
      'You may have ten webhooks under an event.',
    failures: [...COMMON_FAILURES, '11', '71'],
    body: WebhookRequest,
    response: WebhookWithSecret,
    run: act('create'),
  },
  changeWebhook: {
    route: `PATCH ${ONE}`,
    description:
      'Changes the given fields, at least one. Unknown fields are ignored. If the webhook is active, its next attempt starts at once.',
    body: WebhookChange,
    response: Webhook,
    run: act('update'),
  },
  replayWebhook: {
    route: `POST ${ONE}/replay`,
    description:
      'Sends all entries since a time again, as far back as entries are kept. The messages have new ids.',
    body: WebhookReplay,
    response: Webhook,
    run: act('replay'),
  },
  rotateWebhookSecret: {
    route: `POST ${ONE}/rotate`,
    description:
      'Creates a new secret and a new key. The secret is only in this answer. During the overlap, messages are also signed with the ' +
      'previous ones. The body is optional, and so are its fields.',
    body: WebhookRotation,
    response: WebhookWithSecret,
    run: act('rotate'),
  },
  pauseWebhook: {
    route: `POST ${ONE}/pause`,
    description:
      'Stops the messages of a webhook. Entries that occur meanwhile are sent after Resume Webhook. Safe to repeat.',
    response: Webhook,
    run: act('pause'),
  },
  resumeWebhook: {
    route: `POST ${ONE}/resume`,
    description:
      'Continues the messages where they stopped, also after the webhook was disabled. If the operator paused the webhook, only the ' +
      'operator can resume it: 72. Safe to repeat.',
    failures: [...ON_ONE, '72'],
    response: Webhook,
    run: act('resume'),
  },
  testWebhook: {
    route: `POST ${ONE}/test`,
    description:
      'Sends a signed message of the type webhook.test, whatever the state of the webhook. List Attempts shows the outcome.',
    response: WebhookTest,
    run: act('test'),
  },
  deleteWebhook: {
    route: `DELETE ${ONE}`,
    description: 'Deletes a webhook with its secrets and attempts. Returns it as it was.',
    response: Webhook,
    run: act('delete'),
  },
};

/** Returns what performs an action as the partner. */
function act(name: WebhookActionName): Operation['run'] {
  return async (db, principal, given, actions) => {
    const { eventId, partnerId } = principal;
    const result = await perform(db, actions[name], { ...given, eventId, partnerId }, principal);
    if (isRefused(result)) return result;
    const { endpoint, keys, messageId } = result;
    return messageId === undefined ? webhookOf(endpoint, keys) : { messageId };
  };
}
