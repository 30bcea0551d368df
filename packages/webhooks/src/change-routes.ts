import {
  answersOf,
  BODY_LIMIT_BYTES,
  DEFAULT_WEBHOOK_OVERLAP_HOURS,
  success,
  Webhook,
  WebhookChange,
  WebhookPath,
  WebhookReplay,
  WebhookRotation,
  WebhookTest,
  WebhookWithSecret,
  type FailureCode,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { optionalBody, withoutBody, type Routes } from '@floodgate/http';
import {
  askForTest,
  changeEndpoint,
  deleteEndpoint,
  pauseEndpoint,
  replayEndpoint,
  resumeEndpoint,
} from './change-endpoints.ts';
import { webhookOf, withSecret } from './describe.ts';
import { rotateKeys } from './endpoint-keys.ts';
import { findEndpoint, type Endpoint } from './endpoints.ts';
import { failures, ONE, tags, type Caller, type InTurn } from './route-terms.ts';
import { faultInChange } from './urls.ts';

/** What is done with a webhook that is there. */
export function addChangeRoutes(api: Routes, inTurn: InTurn, isDevelopment: boolean): void {
  addChangeRoute(api, inTurn, isDevelopment);
  withoutBody(api, (routes) => {
    addStateRoute(routes, inTurn, 'pause');
    addStateRoute(routes, inTurn, 'resume');
    addTestRoute(routes, inTurn);
    addDeleteRoute(routes, inTurn);
  });
  addReplayRoute(api, inTurn);
  addRotateRoute(api, inTurn);
}

/** Does something with a webhook, in a transaction. Returns null where the caller has none of this id. */
const withEndpoint = <Result>(
  inTurn: InTurn,
  caller: Caller & { params: { webhookId: string } },
  work: (transaction: Database, endpoint: Endpoint) => Promise<Result>,
): Promise<Result | null> =>
  inTurn(caller, (db) =>
    db.transaction().execute(async (transaction) => {
      const endpoint = await findEndpoint(transaction, caller.principal, caller.params.webhookId);
      return endpoint ? work(transaction, endpoint) : null;
    }),
  );

/** Returns a webhook as it is after a change; null where it was deleted meanwhile. */
async function afterwards(db: Database, endpoint: Endpoint) {
  const found = await findEndpoint(db, endpoint, endpoint.id);
  return found ? webhookOf(found) : null;
}

function addChangeRoute(api: Routes, inTurn: InTurn, isDevelopment: boolean): void {
  api.patch(
    ONE,
    {
      schema: {
        operationId: 'changeWebhook',
        tags,
        summary: 'Change Webhook',
        description:
          'Changes the fields that the body has, at least one of them. Unknown fields are ignored. If the webhook is active, its next attempt is made at once.',
        failures,
        params: WebhookPath,
        body: WebhookChange,
        response: answersOf(Webhook),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const { body } = request;
      const fault = faultInChange(body, isDevelopment);
      if (fault) return reply.fail('11', fault);
      const changed = await withEndpoint(inTurn, request, async (transaction, endpoint) => {
        await changeEndpoint(transaction, endpoint, body);
        return afterwards(transaction, endpoint);
      });
      return changed ? success(changed) : reply.fail('70');
    },
  );
}

function addDeleteRoute(api: Routes, inTurn: InTurn): void {
  api.delete(
    ONE,
    {
      schema: {
        operationId: 'deleteWebhook',
        tags,
        summary: 'Delete Webhook',
        description: 'Deletes a webhook with its secrets and attempts. Answers it as it was.',
        failures,
        params: WebhookPath,
        response: answersOf(Webhook),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const deleted = await withEndpoint(inTurn, request, async (transaction, endpoint) => {
        await deleteEndpoint(transaction, endpoint);
        return webhookOf(endpoint);
      });
      return deleted ? success(deleted) : reply.fail('70');
    },
  );
}

const STATE_CHANGES = {
  pause: {
    change: pauseEndpoint,
    operationId: 'pauseWebhook',
    summary: 'Pause Webhook',
    description: 'Stops the messages of a webhook. What happens meanwhile is told later. Safe to repeat.',
    failures,
  },
  resume: {
    change: resumeEndpoint,
    operationId: 'resumeWebhook',
    summary: 'Resume Webhook',
    description:
      'Continues to send messages where they stopped, also after the webhook was disabled. If the operator paused the webhook, only the ' +
      'operator can resume it: 72. Safe to repeat.',
    failures: [...failures, '72'] satisfies FailureCode[],
  },
};

function addStateRoute(api: Routes, inTurn: InTurn, name: keyof typeof STATE_CHANGES): void {
  const { change, ...description } = STATE_CHANGES[name];
  api.post(
    `${ONE}/${name}`,
    {
      schema: { ...description, tags, params: WebhookPath, response: answersOf(Webhook) },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const changed = await withEndpoint(inTurn, request, async (transaction, endpoint) => {
        const isChanged = await change(transaction, endpoint);
        return isChanged ? afterwards(transaction, endpoint) : 'refused';
      });
      if (changed === 'refused') return reply.fail('72');
      return changed ? success(changed) : reply.fail('70');
    },
  );
}

function addTestRoute(api: Routes, inTurn: InTurn): void {
  api.post(
    `${ONE}/test`,
    {
      schema: {
        operationId: 'testWebhook',
        tags,
        summary: 'Test Webhook',
        description:
          'Sends a signed message of the type webhook.test, whatever the state of the webhook. What became of it is in List Attempts.',
        failures,
        params: WebhookPath,
        response: answersOf(WebhookTest),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const messageId = await withEndpoint(inTurn, request, askForTest);
      return messageId ? success({ messageId }) : reply.fail('70');
    },
  );
}

function addReplayRoute(api: Routes, inTurn: InTurn): void {
  api.post(
    `${ONE}/replay`,
    {
      schema: {
        operationId: 'replayWebhook',
        tags,
        summary: 'Replay Webhook',
        description: 'Has everything that happened since a time told once more, as far as it is kept.',
        failures,
        params: WebhookPath,
        body: WebhookReplay,
        response: answersOf(Webhook),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const { body } = request;
      const since = new Date(body.since);
      // A leap second is a time, but none that JavaScript knows.
      if (Number.isNaN(since.getTime()))
        return reply.fail('11', {
          message: 'since: a time with an offset',
          invalidFields: [{ field: 'since', rule: 'format' }],
        });
      const replayed = await withEndpoint(inTurn, request, async (transaction, endpoint) => {
        await replayEndpoint(transaction, endpoint, since);
        return afterwards(transaction, endpoint);
      });
      return replayed ? success(replayed) : reply.fail('70');
    },
  );
}

function addRotateRoute(api: Routes, inTurn: InTurn): void {
  api.post(
    `${ONE}/rotate`,
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        tags,
        summary: 'Rotate Webhook Secret',
        description:
          'Makes a new secret and a new key, shown this once. For a while messages are signed with those before as well. ' +
          'Every field is optional, and so is the body.',
        failures,
        params: WebhookPath,
        body: WebhookRotation,
        response: answersOf(WebhookWithSecret),
      },
      bodyLimit: BODY_LIMIT_BYTES,
      ...optionalBody,
    },
    async (request, reply) => {
      const { body } = request;
      const rotated = await withEndpoint(inTurn, request, async (transaction, endpoint) => {
        const keys = await rotateKeys(
          transaction,
          endpoint,
          body.overlapHours ?? DEFAULT_WEBHOOK_OVERLAP_HOURS,
        );
        return keys && withSecret({ endpoint, keys });
      });
      return rotated ? success(rotated) : reply.fail('70');
    },
  );
}
