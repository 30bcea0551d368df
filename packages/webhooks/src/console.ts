import { defineAction, Flag, Id, Limit, type Action } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { WebhookPath } from '@floodgate/contract';
import { askShards, shardIds, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { lagOf } from '@floodgate/journal';
import { operationsOn, type Caller } from '@floodgate/operators';
import { Failure, NotFound } from '@floodgate/service/failure';
import { Type, type TObject } from '@sinclair/typebox';
import * as actions from './actions.ts';
import { isRefused, type Changed, type Refused } from './actions.ts';
import { findEndpointAnywhere, listAttempts, listEndpoints, webhookOf, type Endpoint } from './endpoints.ts';
import { findNotice } from './notices.ts';
import { secretText, type SigningKeys } from './signatures.ts';

export { ATTEMPT_COLUMNS } from './columns.ts';
export { allowPrivateSetting } from './settings.ts';

const { actionOperation, listOperation, queryOperation } = operationsOn('webhooks');

/** The actions as operators perform them. URLs with http are accepted in development only. */
export const operatorActions = (allowsHttp: boolean) => ({
  create: forOperators(actions.createWebhookAction(allowsHttp)),
  update: forOperators(actions.updateWebhookAction(allowsHttp)),
  test: forOperators(actions.testWebhookAction),
  replay: forOperators(actions.replayWebhookAction),
  rotate: forOperators(actions.rotateWebhookAction),
  pause: forOperators(actions.pauseWebhookAction),
  resume: forOperators(actions.resumeWebhookAction),
  delete: forOperators(actions.deleteWebhookAction),
});

/**
 * Returns the action with the operators' view of the webhook as its result. It throws Failure if the change
 * is refused.
 */
function forOperators<Input extends TObject>(action: Action<Input, Effect | Refused>) {
  return defineAction({
    ...action,
    run: async (db, input, note, actor) => shownAfter(await action.run(db, input, note, actor)),
  });
}

/** Operations that only read. */
const queries = {
  webhookList: queryOperation(
    'GET /events/{eventId}/webhooks',
    'List the webhooks of an event',
    'webhookList',
    Type.Object({ eventId: Id }),
    async (db, { eventId }, caller) => {
      const { shardId } = await findEvent(db, eventId);
      const endpoints = await listEndpoints(db, { shardId, eventId });
      return endpoints.map((endpoint) => seenBy(caller, shownOf(endpoint)));
    },
  ),
  webhookListAll: listOperation(
    'GET /webhooks',
    'List the webhooks of all events, of a partner, or those that fail or do not send',
    'webhookListAll',
    Type.Object({ partnerId: typedAs('--partner', Type.Optional(Id)), failing: Type.Optional(Flag) }),
    async (db, { partnerId, failing = false }, caller) => {
      const { answers, away } = await askShards(await shardIds(db), (shardId) =>
        listEndpoints(db, { shardId, ...(partnerId !== undefined && { partnerId }) }, failing),
      );
      const { events } = caller;
      const seen = answers.flat().filter(({ eventId }) => events?.includes(eventId) ?? true);
      return { webhooks: seen.map((endpoint) => seenBy(caller, shownOf(endpoint))), away };
    },
  ),
  webhookShow: queryOperation(
    'GET /webhooks/{webhookId}',
    'Show a webhook without its secret',
    'webhookShow',
    WebhookPath,
    async (db, { webhookId }, caller) => {
      const endpoint = await requireEndpoint(db, webhookId);
      const oldestMs = await lagOf(db, endpoint);
      const notice = (await findNotice(db, endpoint)) ?? null;
      return { ...seenBy(caller, shownOf(endpoint)), oldestMs, notice };
    },
  ),
  webhookAttempts: queryOperation(
    'GET /webhooks/{webhookId}/attempts',
    'List the latest attempts, latest first',
    'webhookAttempts',
    Type.Object({ ...WebhookPath.properties, limit: Limit }),
    async (db, { webhookId, limit = 50 }) => listAttempts(db, await requireEndpoint(db, webhookId), limit),
  ),
};

const changeOperations = (changes: ReturnType<typeof operatorActions>) => ({
  webhookCreate: actionOperation(
    'POST /events/{eventId}/webhooks',
    "Send the changes of a partner's registrations to a URL",
    changes.create,
    { secret: 'secret' },
  ),
  webhookUpdate: actionOperation('PATCH /webhooks/{webhookId}', 'Change a webhook', changes.update),
  webhookTest: actionOperation('POST /webhooks/{webhookId}/test', 'Send a test message', changes.test),
  webhookReplay: actionOperation(
    'POST /webhooks/{webhookId}/replay',
    'Send all entries since a time again',
    changes.replay,
  ),
  webhookRotate: actionOperation('POST /webhooks/{webhookId}/rotate', 'Create a new secret', changes.rotate, {
    secret: 'secret',
  }),
  webhookPause: actionOperation(
    'POST /webhooks/{webhookId}/pause',
    'Stop its messages until resume',
    changes.pause,
  ),
  webhookResume: actionOperation(
    'POST /webhooks/{webhookId}/resume',
    'Resume its messages where they stopped',
    changes.resume,
  ),
  webhookDelete: actionOperation(
    'DELETE /webhooks/{webhookId}',
    'Delete it with its secrets and attempts',
    changes.delete,
  ),
});

/** The operations on partners' webhooks. URLs with http are accepted in development only. */
export const webhookOperations = (allowsHttp = false) => ({
  ...queries,
  ...changeOperations(operatorActions(allowsHttp)),
});

export type ShownWebhook = ReturnType<typeof shownOf>;
export type ChangedWebhook = ReturnType<typeof shownAfter>;

/** Returns the operator's view of a webhook: its partner's view, and more. */
const shownOf = (endpoint: Endpoint, keys?: SigningKeys) => {
  const { partnerId, eventId, pausedBy } = endpoint;
  const secret = keys && { secret: secretText(keys.secret) };
  return { ...webhookOf(endpoint), ...secret, partnerId, eventId, pausedBy };
};

/** The path and the query of a URL can be a secret of the partner. Callers who may not change webhooks see the rest. */
function seenBy<Shown extends { url: string }>({ may }: Caller, webhook: Shown): Shown {
  return may('webhooks:write') ? webhook : { ...webhook, url: `${new URL(webhook.url).origin}/…` };
}

/** The effect of any action. */
interface Effect extends Changed {
  keys?: SigningKeys;
  messageId?: string;
  /** The cursor before a replay. */
  was?: string;
}

/**
 * Returns a webhook after a change, with what only this change knows. Throws Failure if the change was
 * refused.
 */
function shownAfter(result: Effect | Refused) {
  if (isRefused(result)) throw new Failure(result.reason);
  const { endpoint, keys, ...made } = result;
  return { ...shownOf(endpoint, keys), ...made };
}

/** Returns the event of a webhook, or undefined if there is none with this id. */
export const findEventOfWebhook = async (db: Database, id: string) =>
  (await findEndpointAnywhere(db, id))?.eventId;

async function requireEndpoint(db: Database, id: string) {
  const endpoint = await findEndpointAnywhere(db, id);
  if (!endpoint) throw new NotFound('no such webhook');
  return endpoint;
}
