import { Type } from '@sinclair/typebox';
import { defineAction, Id, text, whole } from '@floodgate/audit';
import {
  isUuid,
  UUID_PATTERN,
  WEBHOOK_ENTRY_LIMIT,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_OVERLAP_LIMIT_HOURS,
  WebhookRequest,
} from '@floodgate/contract';
import { askShards, shardIds, type Database } from '@floodgate/database';
import { findShard } from '@floodgate/events';
import { Failure } from '@floodgate/service/failure';
import {
  addEndpoint,
  askForTest,
  changeEndpoint,
  deleteEndpoint,
  pauseEndpoint,
  replayEndpoint,
  resumeEndpoint,
} from './change-endpoints.ts';
import { rotateKeys } from './endpoint-keys.ts';
import { findEndpointIn, type Endpoint } from './endpoints.ts';
import { isWebhookUrl, URL_RULE } from './urls.ts';

export { perform } from '@floodgate/audit';

// What operators do with webhooks. Neither secrets nor URLs, which may hold some, get into the audit log.

const WebhookId = Type.String({ pattern: UUID_PATTERN, description: 'a UUID' });
const Types = Type.Array(Type.Union(WEBHOOK_EVENT_TYPES.map((type) => Type.Literal(type))), {
  minItems: 1,
  uniqueItems: true,
  description: `some of ${WEBHOOK_EVENT_TYPES.join(', ')}`,
});

const { maxLength, pattern } = WebhookRequest.properties.url as { maxLength: number; pattern: string };
const WebhookUrl = Type.String({ maxLength, pattern, description: URL_RULE.replace('url: ', '') });

const noSuchWebhook = () => new Failure('no such webhook');

/** Returns the endpoint of this id, wherever it is. Throws Failure where there is none. */
export async function requireEndpoint(db: Database, id: string): Promise<Endpoint> {
  if (!isUuid(id)) throw noSuchWebhook();
  const { answers } = await askShards(await shardIds(db), (shardId) => findEndpointIn(db, shardId, id));
  const found = answers.find((endpoint) => endpoint !== undefined);
  if (!found) throw noSuchWebhook();
  return found;
}

/** What of an endpoint the audit log keeps. */
const audited = ({
  eventId,
  partnerId,
  types,
  entryLimit,
  state,
  pausedBy,
  failures,
  failingSince,
}: Endpoint) => {
  return { eventId, partnerId, types, entryLimit, state, pausedBy, failures, failingSince };
};
const subjectOf = (id: string) => `webhook:${id}`;

/** Adds a webhook of a partner under an event. The result holds its secret, which nothing else does. */
export const createWebhookAction = defineAction({
  name: 'webhook.create',
  input: Type.Object({
    eventId: Id,
    partnerId: Id,
    url: WebhookUrl,
    description: Type.Optional(text(0, 255)),
    types: Type.Optional(Types),
    entriesPerMessage: Type.Optional(whole(1, WEBHOOK_ENTRY_LIMIT)),
    from: Type.Optional(
      Type.Union([Type.Literal('start'), Type.Literal('now')], { description: 'start or now' }),
    ),
  }),
  // The command checks https: it knows whether this is development.
  check: ({ url }) => (isWebhookUrl(url, true) ? {} : { url: URL_RULE.replace('url: ', '') }),
  run: async (transaction, { eventId, partnerId, ...request }, note) => {
    const shardId = await findShard(transaction, eventId);
    if (shardId === undefined) throw new Failure('no such event');
    const grants = transaction.selectFrom('event_grants').select('event_id').where('event_id', '=', eventId);
    if (!(await grants.where('partner_id', '=', partnerId).executeTakeFirst()))
      throw new Failure(`event ${eventId} is not open to partner ${partnerId}`);
    const added = await addEndpoint(transaction, { shardId, eventId, partnerId }, request);
    if (!added) throw new Failure('this partner has as many webhooks under this event as there may be');
    note(subjectOf(added.endpoint.id), { after: audited(added.endpoint) });
    return added;
  },
});

const One = Type.Object({ webhookId: WebhookId });

/** Defines what is done with one webhook, and noted with the state before and after. */
const onWebhook = (name: string, change: (db: Database, endpoint: Endpoint) => Promise<unknown>) =>
  defineAction({
    name: `webhook.${name}`,
    input: One,
    run: async (transaction, { webhookId }, note) => {
      const before = await requireEndpoint(transaction, webhookId);
      await change(transaction, before);
      const after = await findEndpointIn(transaction, before.shardId, webhookId);
      const isChanged = JSON.stringify(after && audited(after)) !== JSON.stringify(audited(before));
      if (isChanged)
        note(subjectOf(webhookId), { before: audited(before), ...(after && { after: audited(after) }) });
      return { webhookId, state: after?.state ?? 'deleted' };
    },
  });

export const pauseWebhookAction = onWebhook('pause', (db, endpoint) =>
  pauseEndpoint(db, endpoint, 'operator'),
);
export const resumeWebhookAction = onWebhook('resume', (db, endpoint) =>
  resumeEndpoint(db, endpoint, 'operator'),
);
export const deleteWebhookAction = onWebhook('delete', deleteEndpoint);

/** Sends a message to try a webhook. */
export const testWebhookAction = defineAction({
  name: 'webhook.test',
  input: One,
  run: async (transaction, { webhookId }, note) => {
    const endpoint = await requireEndpoint(transaction, webhookId);
    const messageId = await askForTest(transaction, endpoint);
    note(subjectOf(webhookId), { after: { messageId } });
    return { webhookId, messageId };
  },
});

/** Changes the URL of a webhook, or what it is told. */
export const updateWebhookAction = defineAction({
  name: 'webhook.update',
  input: Type.Object({
    webhookId: WebhookId,
    url: Type.Optional(WebhookUrl),
    types: Type.Optional(Types),
    entriesPerMessage: Type.Optional(whole(1, WEBHOOK_ENTRY_LIMIT)),
  }),
  check: ({ url }) =>
    url === undefined || isWebhookUrl(url, true) ? {} : { url: URL_RULE.replace('url: ', '') },
  run: async (transaction, { webhookId, ...change }, note) => {
    const before = await requireEndpoint(transaction, webhookId);
    await changeEndpoint(transaction, before, change);
    const after = await findEndpointIn(transaction, before.shardId, webhookId);
    if (!after) throw noSuchWebhook();
    const url = change.url === undefined ? {} : { url: 'changed' };
    note(subjectOf(webhookId), { before: audited(before), after: { ...audited(after), ...url } });
    return after;
  },
});

/** Has everything since a time told once more. */
export const replayWebhookAction = defineAction({
  name: 'webhook.replay',
  input: Type.Object({ webhookId: WebhookId, since: Type.Date({ description: 'a time' }) }),
  run: async (transaction, { webhookId, since }, note) => {
    const endpoint = await requireEndpoint(transaction, webhookId);
    const cursor = await replayEndpoint(transaction, endpoint, since);
    note(subjectOf(webhookId), { before: { cursor: endpoint.cursor }, after: { cursor } });
    return { webhookId, cursor: String(cursor), was: String(endpoint.cursor) };
  },
});

/** Gives a webhook a new secret. Messages are signed with the one before as well, for so many hours. */
export const rotateWebhookAction = defineAction({
  name: 'webhook.rotate',
  input: Type.Object({ webhookId: WebhookId, overlapHours: whole(0, WEBHOOK_OVERLAP_LIMIT_HOURS) }),
  run: async (transaction, { webhookId, overlapHours }, note) => {
    const endpoint = await requireEndpoint(transaction, webhookId);
    const keys = await rotateKeys(transaction, endpoint, overlapHours);
    if (!keys) throw noSuchWebhook();
    note(subjectOf(webhookId), { after: { rotated: true, overlapHours } });
    return { endpoint, keys };
  },
});
