import type { Socket } from 'node:net';
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import { perform, type Action } from '@floodgate/audit';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  DEFAULT_WEBHOOK_ATTEMPTS,
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
import type { Database } from '@floodgate/database';
import { optionalBody, withoutBody, type PartnerPrincipal, type Routes } from '@floodgate/http';
import * as actions from './actions/index.ts';
import { isRefused, type Changed, type Refused } from './actions/webhook-action.ts';
import { findEndpoint, listAttempts, listEndpoints } from './endpoints.ts';
import { attemptOf, webhookOf, withSecret } from './webhook-view.ts';

// A partner's webhooks under an event: reads, and one adapter for each action.

/** What the fair queue needs of a request. */
interface Caller {
  principal: PartnerPrincipal;
  raw: { socket: Pick<Socket, 'destroyed'> };
}

/** Runs work on the database in the caller's place in the fair queue. */
export type InQueue = <Result>(caller: Caller, work: (db: Database) => Promise<Result>) => Promise<Result>;

const tags = ['Webhooks'];
const ONE = '/webhooks/:webhookId';
const FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '70'];

export function addWebhookRoutes(api: Routes, inQueue: InQueue, allowsHttp: boolean): void {
  addReads(api, inQueue);
  addAttempts(api, inQueue);
  const add = adapters(inQueue);
  add(api, actions.createWebhookAction(allowsHttp), withSecret, {
    method: 'POST',
    url: '/webhooks',
    operationId: 'createWebhook',
    summary: 'Create Webhook',
    description:
      'Creates a webhook, which sends the changes of your registrations under this event to a URL. The secret is only in this answer. ' +
      'You may have ten webhooks under an event.',
    failures: [...COMMON_FAILURES, '11', '71'],
    body: WebhookRequest,
    response: WebhookWithSecret,
  });
  add(api, actions.updateWebhookAction(allowsHttp), viewOf, {
    method: 'PATCH',
    operationId: 'changeWebhook',
    summary: 'Change Webhook',
    description:
      'Changes the given fields, at least one. Unknown fields are ignored. If the webhook is active, its next attempt starts at once.',
    body: WebhookChange,
    response: Webhook,
  });
  add(api, actions.replayWebhookAction, viewOf, {
    method: 'POST',
    url: `${ONE}/replay`,
    operationId: 'replayWebhook',
    summary: 'Replay Webhook',
    description:
      'Sends all entries since a time again, as far back as entries are kept. The messages have new ids.',
    body: WebhookReplay,
    response: Webhook,
  });
  add(api, actions.rotateWebhookAction, withSecret, {
    method: 'POST',
    url: `${ONE}/rotate`,
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate Webhook Secret',
    description:
      'Creates a new secret and a new key. The secret is only in this answer. During the overlap, messages are also signed with the ' +
      'previous ones. The body is optional, and so are its fields.',
    body: WebhookRotation,
    response: WebhookWithSecret,
    options: optionalBody,
  });
  withoutBody(api, (routes) => addBodilessActions(routes, add));
}

function addBodilessActions(routes: Routes, add: ReturnType<typeof adapters>): void {
  add(routes, actions.pauseWebhookAction, viewOf, {
    method: 'POST',
    url: `${ONE}/pause`,
    operationId: 'pauseWebhook',
    summary: 'Pause Webhook',
    description:
      'Stops the messages of a webhook. Entries that occur meanwhile are sent after Resume Webhook. Safe to repeat.',
    response: Webhook,
  });
  add(routes, actions.resumeWebhookAction, viewOf, {
    method: 'POST',
    url: `${ONE}/resume`,
    operationId: 'resumeWebhook',
    summary: 'Resume Webhook',
    description:
      'Continues the messages where they stopped, also after the webhook was disabled. If the operator paused the webhook, only the ' +
      'operator can resume it: 72. Safe to repeat.',
    failures: [...FAILURES, '72'],
    response: Webhook,
  });
  add(routes, actions.testWebhookAction, ({ messageId }) => ({ messageId }), {
    method: 'POST',
    url: `${ONE}/test`,
    operationId: 'testWebhook',
    summary: 'Test Webhook',
    description:
      'Sends a signed message of the type webhook.test, whatever the state of the webhook. List Attempts shows the outcome.',
    response: WebhookTest,
  });
  add(routes, actions.deleteWebhookAction, viewOf, {
    method: 'DELETE',
    operationId: 'deleteWebhook',
    summary: 'Delete Webhook',
    description: 'Deletes a webhook with its secrets and attempts. Returns it as it was.',
    response: Webhook,
  });
}

const viewOf = ({ endpoint }: Changed) => webhookOf(endpoint);

interface Route {
  method: 'POST' | 'PATCH' | 'DELETE';
  url?: string;
  operationId: string;
  summary: string;
  description: string;
  failures?: FailureCode[];
  body?: TSchema;
  response: TSchema;
  options?: object;
}

/** Returns what adds the route of an action: the fields of body and path are its input, the partner is its actor. */
function adapters(inQueue: InQueue) {
  return function add<Input extends TObject, Result extends object>(
    api: Routes,
    action: Action<Input, Result | Refused>,
    view: (result: Result) => object,
    { method, url = ONE, failures = FAILURES, body, response, options, ...documented }: Route,
  ): void {
    const params = url.startsWith(ONE) && { params: WebhookPath };
    api.route({
      method,
      url,
      schema: {
        ...documented,
        tags,
        failures,
        ...params,
        ...(body && { body }),
        response: answersOf(response),
      },
      bodyLimit: BODY_LIMIT_BYTES,
      ...options,
      handler: async (request, reply) => {
        const { principal } = request;
        const { eventId, partnerId } = principal;
        const given = { ...(request.body as object), ...(request.params as object), eventId, partnerId };
        const input = given as unknown as Static<Input>;
        const result = await inQueue(request, (db) => perform(db, action, input, principal));
        return isRefused(result) ? reply.fail(result.refused) : success(view(result));
      },
    });
  };
}

function addReads(api: Routes, inQueue: InQueue): void {
  api.get(
    '/webhooks',
    {
      schema: {
        operationId: 'listWebhooks',
        tags,
        summary: 'List Webhooks',
        description: 'Lists your webhooks under this event, oldest first.',
        failures: COMMON_FAILURES,
        response: answersOf(WebhookList),
      },
    },
    async (request) => {
      const endpoints = await inQueue(request, (db) => listEndpoints(db, request.principal));
      return success(endpoints.map((endpoint) => webhookOf(endpoint)));
    },
  );
  api.get(
    ONE,
    {
      schema: {
        operationId: 'getWebhook',
        tags,
        summary: 'Get Webhook',
        description: 'Returns a webhook with its progress: cursor, failures and next attempt.',
        failures: FAILURES,
        params: WebhookPath,
        response: answersOf(Webhook),
      },
    },
    async (request, reply) => {
      const { principal, params } = request;
      const endpoint = await inQueue(request, (db) => findEndpoint(db, principal, params.webhookId));
      return endpoint ? success(webhookOf(endpoint)) : reply.fail('70');
    },
  );
}

function addAttempts(api: Routes, inQueue: InQueue): void {
  api.get(
    `${ONE}/attempts`,
    {
      schema: {
        operationId: 'listWebhookAttempts',
        tags,
        summary: 'List Attempts',
        description:
          'Lists the latest attempts to send messages, latest first. Attempts are kept for 30 days.',
        failures: FAILURES,
        params: WebhookPath,
        querystring: WebhookAttemptsQuery,
        response: answersOf(WebhookAttempts),
      },
    },
    async (request, reply) => {
      const { principal, params, query } = request;
      const limit = Number(query.limit ?? DEFAULT_WEBHOOK_ATTEMPTS);
      const attempts = await inQueue(request, async (db) => {
        const endpoint = await findEndpoint(db, principal, params.webhookId);
        return endpoint && listAttempts(db, endpoint, limit);
      });
      return attempts ? success(attempts.map(attemptOf)) : reply.fail('70');
    },
  );
}
