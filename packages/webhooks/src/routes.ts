import {
  answersOf,
  BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  DEFAULT_WEBHOOK_ATTEMPTS,
  success,
  Webhook,
  WebhookAttempts,
  WebhookAttemptsQuery,
  WebhookList,
  WebhookPath,
  WebhookRequest,
  WebhookWithSecret,
} from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { addEndpoint } from './change-endpoints.ts';
import { addChangeRoutes } from './change-routes.ts';
import { attemptOf, webhookOf, withSecret } from './describe.ts';
import { findEndpoint, listAttempts, listEndpoints } from './endpoints.ts';
import { failures, ONE, tags, type InTurn } from './route-terms.ts';
import { faultIn } from './urls.ts';

/** /webhooks and below: the webhooks of a partner under an event. */
export function addWebhookRoutes(api: Routes, inTurn: InTurn, isDevelopment: boolean): void {
  addListRoute(api, inTurn);
  addCreateRoute(api, inTurn, isDevelopment);
  addGetRoute(api, inTurn);
  addAttemptsRoute(api, inTurn);
  addChangeRoutes(api, inTurn, isDevelopment);
}

function addListRoute(api: Routes, inTurn: InTurn): void {
  api.get(
    '/webhooks',
    {
      schema: {
        operationId: 'listWebhooks',
        tags,
        summary: 'List Webhooks',
        description: 'Lists the webhooks of the same partner under this event, oldest first.',
        failures: COMMON_FAILURES,
        response: answersOf(WebhookList),
      },
    },
    async (request) => {
      const endpoints = await inTurn(request, (db) => listEndpoints(db, request.principal));
      return success(endpoints.map((endpoint) => webhookOf(endpoint)));
    },
  );
}

function addCreateRoute(api: Routes, inTurn: InTurn, isDevelopment: boolean): void {
  api.post(
    '/webhooks',
    {
      schema: {
        operationId: 'createWebhook',
        tags,
        summary: 'Create Webhook',
        description:
          'Has what becomes of the registrations of the same partner under this event sent to a URL. The answer shows the secret, ' +
          'this once. A partner may have ten webhooks under an event.',
        failures: [...COMMON_FAILURES, '11', '71'],
        body: WebhookRequest,
        response: answersOf(WebhookWithSecret),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const { principal, body } = request;
      const fault = faultIn(body, isDevelopment);
      if (fault) return reply.fail('11', fault);
      const added = await inTurn(request, (db) =>
        db.transaction().execute((transaction) => addEndpoint(transaction, principal, body)),
      );
      return added ? success(withSecret(added)) : reply.fail('71');
    },
  );
}

function addGetRoute(api: Routes, inTurn: InTurn): void {
  api.get(
    ONE,
    {
      schema: {
        operationId: 'getWebhook',
        tags,
        summary: 'Get Webhook',
        description: 'Tells how far a webhook has come, and how its last attempts went.',
        failures,
        params: WebhookPath,
        response: answersOf(Webhook),
      },
    },
    async (request, reply) => {
      const { principal, params } = request;
      const endpoint = await inTurn(request, (db) => findEndpoint(db, principal, params.webhookId));
      return endpoint ? success(webhookOf(endpoint)) : reply.fail('70');
    },
  );
}

function addAttemptsRoute(api: Routes, inTurn: InTurn): void {
  api.get(
    `${ONE}/attempts`,
    {
      schema: {
        operationId: 'listWebhookAttempts',
        tags,
        summary: 'List Attempts',
        description: 'Lists the latest attempts to send messages, latest first. They are kept for 30 days.',
        failures,
        params: WebhookPath,
        querystring: WebhookAttemptsQuery,
        response: answersOf(WebhookAttempts),
      },
    },
    async (request, reply) => {
      const { principal, params, query } = request;
      const limit = Number(query.limit ?? DEFAULT_WEBHOOK_ATTEMPTS);
      const attempts = await inTurn(request, async (db) => {
        const endpoint = await findEndpoint(db, principal, params.webhookId);
        return endpoint && listAttempts(db, endpoint, limit);
      });
      return attempts ? success(attempts.map(attemptOf)) : reply.fail('70');
    },
  );
}
