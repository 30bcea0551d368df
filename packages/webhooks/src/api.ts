import type { Static, TObject } from '@sinclair/typebox';
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
import { perform, type Action } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { defineApi, type Principal, type Routes } from '@floodgate/http';
import { createFairQueue } from '@floodgate/service/fair-queue';
import {
  createWebhookAction,
  deleteWebhookAction,
  isRefused,
  NO_SUCH_WEBHOOK,
  pauseWebhookAction,
  replayWebhookAction,
  resumeWebhookAction,
  rotateWebhookAction,
  testWebhookAction,
  updateWebhookAction,
  type Changed,
  type Refused,
} from './actions.ts';
import { findEndpoint, listAttempts, listEndpoints, webhookOf } from './endpoints.ts';
import { allowPrivateSetting } from './settings.ts';
import { secretText, type SigningKeys } from './signatures.ts';

/** One for the fair queue, and another while the first waits for a lock. */
const CONNECTIONS = 2;

/**
 * The routes on which partners manage their webhooks under an event. The delivery process sends the messages.
 */
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
    const allowsHttp = WEBHOOK_ALLOW_PRIVATE === 'true';
    return {
      routes(api) {
        addReads(api, db, queue);
        addSettings(api, db, queue, allowsHttp);
        addReplayAndRotation(api, db, queue);
        addPauseAndResume(api, db, queue);
        addTestAndDelete(api, db, queue);
      },
    };
  },
});

type Queue = ReturnType<typeof createFairQueue>;

/** The parts that all operations have in common, and those on one webhook. */
const COMMON = { tags: ['Webhooks'], failures: COMMON_FAILURES, response: answersOf(Webhook) };
const ON_ONE = {
  ...COMMON,
  params: WebhookPath,
  failures: [...COMMON_FAILURES, '11', '70'] as FailureCode[],
};

/** Adds the routes that only read. */
function addReads(api: Routes, db: Database, queue: Queue) {
  api.get(
    '/webhooks',
    {
      schema: {
        ...COMMON,
        operationId: 'listWebhooks',
        summary: 'List Webhooks',
        description: 'Lists your webhooks under this event, oldest first.',
        response: answersOf(WebhookList),
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, async () =>
        (await listEndpoints(db, request.principal)).map((endpoint) => webhookOf(endpoint)),
      ),
  );
  api.get(
    '/webhooks/:webhookId',
    {
      schema: {
        ...ON_ONE,
        operationId: 'getWebhook',
        summary: 'Get Webhook',
        description: 'Returns a webhook with its progress: cursor, failures and next attempt.',
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, async () => {
        const endpoint = await findEndpoint(db, { ...request.principal, id: request.params.webhookId });
        return endpoint ? webhookOf(endpoint) : NO_SUCH_WEBHOOK;
      }),
  );
  api.get(
    '/webhooks/:webhookId/attempts',
    {
      schema: {
        ...ON_ONE,
        operationId: 'listWebhookAttempts',
        summary: 'List Attempts',
        description:
          'Lists the latest attempts to send messages, latest first. Attempts are kept for 30 days.',
        querystring: WebhookAttemptsQuery,
        response: answersOf(WebhookAttempts),
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, async () => {
        const { limit = DEFAULT_LIMIT } = request.query;
        const endpoint = await findEndpoint(db, { ...request.principal, id: request.params.webhookId });
        return endpoint ? listAttempts(db, endpoint, Number(limit)) : NO_SUCH_WEBHOOK;
      }),
  );
}

/** Adds the routes that set what is sent, and where. */
function addSettings(api: Routes, db: Database, queue: Queue, allowsHttp: boolean) {
  const [create, update] = [createWebhookAction(allowsHttp), updateWebhookAction(allowsHttp)];
  api.post(
    '/webhooks',
    {
      schema: {
        ...COMMON,
        operationId: 'createWebhook',
        summary: 'Create Webhook',
        description:
          'Creates a webhook, which sends the changes of your registrations under this event to a URL. ' +
          'Only this answer contains the secret. ' +
          'You may have ten webhooks under an event.',
        failures: [...COMMON_FAILURES, '11', '71'],
        body: WebhookRequest,
        response: answersOf(WebhookWithSecret),
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () => {
        const { eventId, partnerId } = request.principal;
        return act(db, create, { ...request.body, eventId, partnerId }, request.principal, withSecret);
      }),
  );
  api.patch(
    '/webhooks/:webhookId',
    {
      schema: {
        ...ON_ONE,
        operationId: 'changeWebhook',
        summary: 'Change Webhook',
        description:
          'Changes the given fields. At least one is required, and unknown fields are ignored. If the ' +
          'webhook is active, its next attempt starts at once.',
        body: WebhookChange,
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () =>
        act(db, update, { ...request.body, ...request.params }, request.principal, withoutSecret),
      ),
  );
}

/** Adds the routes that send again, and sign with other keys. */
function addReplayAndRotation(api: Routes, db: Database, queue: Queue) {
  api.post(
    '/webhooks/:webhookId/replay',
    {
      schema: {
        ...ON_ONE,
        operationId: 'replayWebhook',
        summary: 'Replay Webhook',
        description: 'Resends all entries since a time that are still kept. The messages have new ids.',
        body: WebhookReplay,
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () =>
        act(
          db,
          replayWebhookAction,
          { ...request.body, ...request.params },
          request.principal,
          withoutSecret,
        ),
      ),
  );
  api.post(
    '/webhooks/:webhookId/rotate',
    {
      schema: {
        ...ON_ONE,
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate Webhook Secret',
        description:
          'Creates a new secret and a new key. Only this answer contains the secret. During the overlap, ' +
          'messages are also signed with the ' +
          'previous ones. The body is optional, and so are its fields.',
        body: WebhookRotation,
        response: answersOf(WebhookWithSecret),
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () =>
        act(db, rotateWebhookAction, { ...request.body, ...request.params }, request.principal, withSecret),
      ),
  );
}

/** Adds the routes that stop and start the messages. */
function addPauseAndResume(api: Routes, db: Database, queue: Queue) {
  api.post(
    '/webhooks/:webhookId/pause',
    {
      schema: {
        ...ON_ONE,
        operationId: 'pauseWebhook',
        summary: 'Pause Webhook',
        description:
          'Stops the messages of a webhook. Resume Webhook sends the entries that were not sent. Safe to repeat.',
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () =>
        act(db, pauseWebhookAction, request.params, request.principal, withoutSecret),
      ),
  );
  api.post(
    '/webhooks/:webhookId/resume',
    {
      schema: {
        ...ON_ONE,
        operationId: 'resumeWebhook',
        summary: 'Resume Webhook',
        description:
          'Resumes the messages where they stopped, also after the webhook was disabled. If the operator ' +
          'paused the webhook, only the ' +
          'operator can resume it, and the answer is 72. Safe to repeat.',
        failures: [...ON_ONE.failures, '72'],
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () =>
        act(db, resumeWebhookAction, request.params, request.principal, withoutSecret),
      ),
  );
}

/** Adds the routes that try a webhook out, and end it. */
function addTestAndDelete(api: Routes, db: Database, queue: Queue) {
  api.post(
    '/webhooks/:webhookId/test',
    {
      schema: {
        ...ON_ONE,
        operationId: 'testWebhook',
        summary: 'Test Webhook',
        description:
          'Sends a signed message of the type webhook.test, in any state of the webhook. List Attempts ' +
          'shows the outcome.',
        response: answersOf(WebhookTest),
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () =>
        act(db, testWebhookAction, request.params, request.principal, ({ messageId }) => ({ messageId })),
      ),
  );
  api.delete(
    '/webhooks/:webhookId',
    {
      schema: {
        ...ON_ONE,
        operationId: 'deleteWebhook',
        summary: 'Delete Webhook',
        description: 'Deletes a webhook with its secrets and attempts. Returns the deleted webhook.',
      },
    },
    async (request, reply) =>
      answer(queue, request, reply, () =>
        act(db, deleteWebhookAction, request.params, request.principal, withoutSecret),
      ),
  );
}

/** Does work for a partner when it is its turn. Answers with the outcome. */
async function answer<Data extends object, Failed>(
  queue: Queue,
  { principal, raw }: { principal: Principal; raw: { socket: { destroyed: boolean } } },
  reply: { fail(code: FailureCode): Failed },
  work: () => Promise<Data | Refused>,
) {
  const result = await queue(principal.partnerId, () => !raw.socket.destroyed, work);
  return isRefused(result) ? reply.fail(result.refused) : success(result);
}

const withoutSecret = ({ endpoint }: Changed) => webhookOf(endpoint);

const withSecret = ({ endpoint, keys }: Changed & { keys: SigningKeys }) => ({
  ...webhookOf(endpoint),
  secret: secretText(keys.secret),
});

/** Performs an action as the partner. Returns what `present` returns of the effect. */
async function act<Input extends TObject, Effect extends Changed, Data extends object>(
  db: Database,
  action: Action<Input, Effect | Refused>,
  input: Static<Input>,
  principal: Principal,
  present: (effect: Effect) => Data,
) {
  const result = await perform(db, action, input, principal);
  return isRefused(result) ? result : present(result);
}
