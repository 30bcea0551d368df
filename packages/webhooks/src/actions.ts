import { randomUUID } from 'node:crypto';
import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox';
import { defineAction, Id, type Action, type Actor } from '@floodgate/audit';
import {
  DEFAULT_WEBHOOK_ENTRY_LIMIT,
  DEFAULT_WEBHOOK_OVERLAP_HOURS,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_LIMIT,
  WebhookChange,
  WebhookPath,
  WebhookRequest,
  WebhookRotation,
  type FailureCode,
} from '@floodgate/contract';
import type { AuditedState, Database } from '@floodgate/database';
import { findEvent, keepInShard } from '@floodgate/events';
import {
  addConsumer,
  deleteConsumer,
  journalHead,
  lockConsumer,
  pauseConsumer,
  resumeConsumer,
  retryConsumer,
  type ConsumerId,
} from '@floodgate/journal';
import { sql, type RawBuilder } from 'kysely';
import {
  findEndpoint,
  findEndpointAnywhere,
  listEndpoints,
  updateEndpoint,
  type Endpoint,
  type Owner,
} from './endpoints.ts';
import { createSigningKeys, type SigningKeys } from './signatures.ts';

// The actions of partners and operators on webhooks. A partner reaches only its own webhooks under the event of the request.

/** An expected outcome: the webhook stays as it is. The code is for a partner, the reason for an operator. */
export interface Refused {
  refused: FailureCode;
  reason: string;
}

export const isRefused = (outcome: object): outcome is Refused => 'refused' in outcome;

export const NO_SUCH_WEBHOOK: Refused = { refused: '70', reason: 'no such webhook' };
const PAUSED_BY_OPERATOR: Refused = { refused: '72', reason: 'the operator has paused this webhook' };

/** The effect of an action. */
export interface Changed {
  /** The webhook as it is afterwards. After `delete` it is as it was before. */
  endpoint: Endpoint;
  /** New keys. Nothing else returns their secret. */
  keys?: SigningKeys;
  /** Id of the requested test message. */
  messageId?: string;
  /** The cursor before a replay. */
  was?: string;
}

/** An action. Its input is checked when it is performed. */
export type WebhookAction = Action<TObject, Changed | Refused>;
export type WebhookActions = ReturnType<typeof webhookActions>;
export type WebhookActionName = keyof WebhookActions;

// Serializes the creation of a partner's endpoints, which are counted. The integer spells "whks".
const ADD_LOCK = 0x77686b73;
const CHANGEABLE = Object.keys(WebhookChange.properties) as (keyof WebhookChange)[];
const AUDITED = [
  'eventId',
  'partnerId',
  'types',
  'entriesPerMessage',
  'state',
  'pausedBy',
  'failures',
  'failingSince',
] as const;
const URL_RULE = 'an https URL of at most 2048 characters, without a user and a password';
const SINCE_RULE = 'a time with an offset';

/** Returns the actions. URLs with http are accepted in development only. */
export const webhookActions = (allowsHttp: boolean) => ({
  create: createAction(allowsHttp),
  update: updateAction(allowsHttp),
  ...ON_ONE,
});

/** Adds a webhook of a partner under an event. */
const createAction = (allowsHttp: boolean) =>
  defineAction({
    name: 'webhook.create',
    input: Type.Object({ eventId: Id, partnerId: Id, ...WebhookRequest.properties }),
    check: (input) => checkFields(input, allowsHttp),
    run: async (transaction, { eventId, partnerId, ...request }, note, actor): Promise<Changed | Refused> => {
      await keepInShard(transaction, eventId);
      const { shardId } = await findEvent(transaction, eventId);
      const owner = { shardId, eventId, partnerId };
      if (!(await isGranted(transaction, owner)))
        return { refused: '21', reason: `event ${eventId} is not open to partner ${partnerId}` };
      await sql`select pg_advisory_xact_lock(${ADD_LOCK}, ${partnerId}::integer)`.execute(transaction);
      if ((await listEndpoints(transaction, owner)).length >= WEBHOOK_LIMIT)
        return { refused: '71', reason: 'this partner has the maximum number of webhooks already' };
      const { id, cursor } = await addConsumer(transaction, {
        ...owner,
        kind: 'webhook',
        fromNow: request.from === 'now',
        isPaused: request.paused ?? false,
      });
      await transaction
        .insertInto('webhook_endpoints')
        .values({
          shard_id: shardId,
          id,
          event_id: eventId,
          partner_id: partnerId,
          url: request.url,
          description: request.description ?? '',
          types: request.types ?? [...WEBHOOK_EVENT_TYPES],
          entry_limit: request.entriesPerMessage ?? DEFAULT_WEBHOOK_ENTRY_LIMIT,
          chain_offset: cursor,
          paused_by: request.paused ? kindOf(actor) : null,
        })
        .execute();
      const keys = await addKeys(transaction, { shardId, id });
      const endpoint = (await findEndpoint(transaction, { shardId, id }))!;
      note(`webhook:${id}`, { after: audited(endpoint) });
      return { endpoint, keys };
    },
  }) as unknown as WebhookAction;

/** Changes the given fields of a webhook. Its next attempt is due at once. */
const updateAction = (allowsHttp: boolean) =>
  onWebhook(
    'update',
    WebhookChange.properties,
    async (transaction, endpoint, { url, description, types, entriesPerMessage: entry_limit }) => {
      // With other types the range in flight would become another message, so it is not repeated.
      await retryConsumer(transaction, endpoint, types ? { inFlightUntil: null } : {});
      await updateEndpoint(transaction, endpoint).set({ url, description, types, entry_limit }).execute();
      return url === undefined ? {} : { noted: { url: 'changed' } };
    },
    (change) =>
      CHANGEABLE.some((name) => change[name] !== undefined)
        ? checkFields(change, allowsHttp)
        : { '': `At least one of these fields is required: ${CHANGEABLE.join(', ')}` },
  );

const ON_ONE = {
  /** Stops the messages of a webhook until it is resumed. A partner's pause does not replace an operator's. */
  pause: onWebhook('pause', {}, async (transaction, endpoint, _input, by) => {
    await pauseConsumer(transaction, endpoint);
    const pausedBy = endpoint.pausedBy === 'operator' ? 'operator' : by;
    await updateEndpoint(transaction, endpoint).set({ paused_by: pausedBy }).execute();
  }),

  /** Continues the messages of a webhook where they stopped. A partner cannot resume what an operator paused. */
  resume: onWebhook('resume', {}, async (transaction, endpoint, _input, by) => {
    if (by === 'partner' && endpoint.pausedBy === 'operator') return PAUSED_BY_OPERATOR;
    await resumeConsumer(transaction, endpoint);
    await updateEndpoint(transaction, endpoint).set({ disabled_reason: null, paused_by: null }).execute();
    return {};
  }),

  /** Sends everything since a time again. */
  replay: onWebhook(
    'replay',
    { since: Type.String({ description: SINCE_RULE }) },
    async (transaction, endpoint, { since }) => {
      const cursor = await cursorBefore(transaction, endpoint, new Date(since));
      await retryConsumer(transaction, endpoint, { cursor, inFlightUntil: null });
      await updateEndpoint(transaction, endpoint)
        // Receivers drop messages whose id they know, so a replay needs new ids.
        .set(({ eb, ref }) => ({ chain_offset: cursor, replays: eb(ref('replays'), '+', 1) }))
        .execute();
      return { was: String(endpoint.cursor), noted: { was: endpoint.cursor, cursor } };
    },
    // A leap second is a time, but JavaScript knows none.
    ({ since }) => (Number.isNaN(Date.parse(since)) ? { since: SINCE_RULE } : {}),
  ),

  /** Gives a webhook new keys. The previous keys still sign for the overlap. Older keys end now. */
  rotate: onWebhook(
    'rotate',
    WebhookRotation.properties,
    async (transaction, endpoint, { overlapHours = DEFAULT_WEBHOOK_OVERLAP_HOURS }) => {
      const { shardId, id } = endpoint;
      const end = (hours: number, which: RawBuilder<unknown>) =>
        sql`
        update webhook_secrets set ends_at = now() + make_interval(hours => ${hours}::integer)
        where shard_id = ${shardId} and endpoint_id = ${id} and ${which}`.execute(transaction);
      await end(0, sql`ends_at > now()`);
      await end(overlapHours, sql`ends_at is null`);
      const keys = await addKeys(transaction, endpoint);
      return { keys, noted: { rotated: true, overlapHours } };
    },
  ),

  /** Requests a test message, whatever the state of the webhook. The delivery process sends it. */
  test: onWebhook('test', {}, async (transaction, endpoint) => {
    const messageId = `msg_test_${randomUUID()}`;
    await updateEndpoint(transaction, endpoint).set({ test_message: messageId }).execute();
    return { messageId, noted: { messageId } };
  }),

  /** Deletes a webhook with its secrets. Its attempts can be millions of rows: expireAttempts deletes them. */
  delete: onWebhook('delete', {}, async (transaction, { shardId, id }) => {
    await deleteConsumer(transaction, { shardId, id });
    const secrets = transaction.deleteFrom('webhook_secrets').where('shard_id', '=', shardId);
    await secrets.where('endpoint_id', '=', id).execute();
    const endpoints = transaction.deleteFrom('webhook_endpoints').where('shard_id', '=', shardId);
    await endpoints.where('id', '=', id).execute();
  }),
};

/**
 * Defines an action on one webhook. Its consumer is locked first, as a delivery does (webhook_delivered): with another order
 * the two could wait for each other. So nothing else changes between the state before and the state after, and both are recorded.
 * `noted` is what the audit log records besides.
 */
function onWebhook<Fields extends TProperties>(
  name: string,
  fields: Fields,
  change: (
    transaction: Database,
    endpoint: Endpoint,
    input: Static<TObject<Fields>>,
    by: 'partner' | 'operator',
  ) => Promise<(Omit<Changed, 'endpoint'> & { noted?: AuditedState }) | Refused | void>,
  check: (input: Static<TObject<Fields>>) => Record<string, string> = () => ({}),
): WebhookAction {
  type Input = Static<TObject<Fields>>;
  return {
    name: `webhook.${name}`,
    input: Type.Object({ ...WebhookPath.properties, ...(fields as TProperties) }),
    check: (input) => check(input as Input),
    run: async (transaction, input, note, actor) => {
      const before = await lockEndpoint(transaction, String(input['webhookId']), actor);
      if (!before) return NO_SUCH_WEBHOOK;
      const result = (await change(transaction, before, input as Input, kindOf(actor))) ?? {};
      if (isRefused(result)) return result;
      const { noted, ...made } = result;
      const endpoint = await findEndpoint(transaction, before);
      const after = endpoint && { ...audited(endpoint), ...noted };
      if (JSON.stringify(after) !== JSON.stringify(audited(before)))
        note(`webhook:${before.id}`, { before: audited(before), ...(after && { after }) });
      return { endpoint: endpoint ?? before, ...made };
    },
  };
}

async function lockEndpoint(transaction: Database, id: string, actor: Actor): Promise<Endpoint | undefined> {
  const found =
    typeof actor === 'string'
      ? await findEndpointAnywhere(transaction, id)
      : await findEndpoint(transaction, { ...actor, id });
  if (!found || !(await lockConsumer(transaction, found))) return undefined;
  // It may have changed while the lock was awaited.
  return findEndpoint(transaction, found);
}

const kindOf = (actor: Actor) => (typeof actor === 'string' ? 'operator' : 'partner');

/** Returns the fields of an endpoint that the audit log keeps. URLs may contain secrets. */
const audited = (endpoint: Endpoint): AuditedState =>
  Object.fromEntries(AUDITED.map((name) => [name, endpoint[name]]));

/** Returns the invalid fields of a webhook, each with its rule, where the schema cannot express it. */
function checkFields({ url, description }: WebhookChange, allowsHttp: boolean): Record<string, string> {
  return {
    ...(url !== undefined && !isWebhookUrl(url, allowsHttp) && { url: URL_RULE }),
    // Unpaired surrogates cannot be stored as they were sent.
    ...(description?.isWellFormed() === false && { description: 'text without unpaired surrogates' }),
  };
}

/** Returns whether messages can be sent to this URL. Which address it reaches is checked on each connection. */
function isWebhookUrl(text: string, allowsHttp: boolean): boolean {
  const url = URL.parse(text);
  return (allowsHttp || url?.protocol === 'https:') && url?.username === '' && url.password === '';
}

async function isGranted(transaction: Database, { eventId, partnerId }: Owner): Promise<boolean> {
  const grants = transaction.selectFrom('event_grants').select('event_id').where('event_id', '=', eventId);
  return (await grants.where('partner_id', '=', partnerId).executeTakeFirst()) !== undefined;
}

/** Returns the cursor before the first entry since then. */
async function cursorBefore(transaction: Database, { shardId, eventId, partnerId }: Owner, since: Date) {
  const { rows } = await sql<{ before: number | null }>`
    select min(last_offset - count) as before from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id in (0, ${partnerId}) and at >= ${since}`.execute(
    transaction,
  );
  return rows[0]!.before ?? journalHead(transaction, shardId);
}

/** Creates the current keys of an endpoint. The API may write keys, but not read them. */
async function addKeys(transaction: Database, { shardId, id }: ConsumerId): Promise<SigningKeys> {
  const keys = createSigningKeys();
  await transaction
    .insertInto('webhook_secrets')
    .values({
      shard_id: shardId,
      endpoint_id: id,
      id: randomUUID(),
      secret: keys.secret,
      private_key: keys.privateKey,
      public_key: keys.publicKey,
    })
    .execute();
  return keys;
}
