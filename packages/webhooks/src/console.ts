import { Id, Limit } from '@floodgate/audit';
import { WebhookPath } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { lagOf } from '@floodgate/journal';
import { operationsOn, type May, type Operation } from '@floodgate/operators';
import { Failure, NotFound } from '@floodgate/service/failure';
import { isRefused, webhookActions, type Changed, type Refused, type WebhookActionName } from './actions.ts';
import { findEndpointAnywhere, listAttempts, listEndpoints, webhookOf, type Endpoint } from './endpoints.ts';
import { findNotice } from './notices.ts';
import type { SigningKeys } from './signatures.ts';

export { allowPrivateSetting } from './settings.ts';

const { performs, reads } = operationsOn('webhooks');

/** Each change with its route and summary. */
const CHANGES: Record<WebhookActionName, [route: `${Operation['method']} /${string}`, summary: string]> = {
  create: ['POST /events/{eventId}/webhooks', "Send the changes of a partner's registrations to a URL"],
  update: ['PATCH /webhooks/{webhookId}', 'Change a webhook'],
  test: ['POST /webhooks/{webhookId}/test', 'Send a test message'],
  replay: ['POST /webhooks/{webhookId}/replay', 'Send all entries since a time again'],
  rotate: ['POST /webhooks/{webhookId}/rotate', 'Create a new secret'],
  pause: ['POST /webhooks/{webhookId}/pause', 'Stop its messages until resume'],
  resume: ['POST /webhooks/{webhookId}/resume', 'Resume its messages where they stopped'],
  delete: ['DELETE /webhooks/{webhookId}', 'Delete it with its secrets and attempts'],
};

/** The operations on partners' webhooks. URLs with http are accepted in development only. */
export function webhookOperations(allowsHttp = false) {
  const actions = webhookActions(allowsHttp);
  return [
    reads(
      'GET /events/{eventId}/webhooks',
      'List the webhooks of an event',
      'webhookList',
      { eventId: Id },
      async (db, { eventId }, may) => {
        const { shardId } = await findEvent(db, eventId);
        return (await listEndpoints(db, { shardId, eventId })).map((endpoint) =>
          seenBy(may, shownOf(endpoint)),
        );
      },
    ),
    reads(
      'GET /webhooks/{webhookId}',
      'Show a webhook without its secret',
      'webhookShow',
      WebhookPath.properties,
      async (db, { webhookId }, may) => {
        const endpoint = await requireEndpoint(db, webhookId);
        const [oldestMs, notice = null] = [await lagOf(db, endpoint), await findNotice(db, endpoint)];
        return { ...seenBy(may, shownOf(endpoint)), oldestMs, notice };
      },
    ),
    reads(
      'GET /webhooks/{webhookId}/attempts',
      'List the latest attempts, latest first',
      'webhookAttempts',
      { ...WebhookPath.properties, limit: Limit },
      async (db, { webhookId, limit = 50 }) => listAttempts(db, await requireEndpoint(db, webhookId), limit),
    ),
    ...Object.entries(CHANGES).map(([name, [route, summary]]) =>
      performs(route, summary, actions[name as WebhookActionName], changed),
    ),
  ];
}

export type ShownWebhook = ReturnType<typeof shownOf>;

/** Returns the operator's view of a webhook: its partner's view, and more. */
const shownOf = (endpoint: Endpoint, keys?: SigningKeys) => {
  const { partnerId, eventId, pausedBy } = endpoint;
  return { ...webhookOf(endpoint, keys), partnerId, eventId, pausedBy };
};

/** The path and the query of a URL can be a secret of the partner. Callers who may not change webhooks see the rest. */
function seenBy<Shown extends { url: string }>(may: May, webhook: Shown): Shown {
  return may('webhooks:write') ? webhook : { ...webhook, url: `${new URL(webhook.url).origin}/…` };
}

/** Returns a webhook after a change. Throws Failure if the change was refused. */
export function changed(result: Changed | Refused) {
  if (isRefused(result)) throw new Failure(result.reason);
  const { endpoint, keys, ...made } = result;
  return { ...shownOf(endpoint, keys), ...made };
}

async function requireEndpoint(db: Database, id: string) {
  const endpoint = await findEndpointAnywhere(db, id);
  if (!endpoint) throw new NotFound('no such webhook');
  return endpoint;
}
