import { randomUUID } from 'node:crypto';
import { Type, type Static, type TObject } from '@sinclair/typebox';
import { defineAction, Id, type Actor } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
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
import { inCamelCase, type Database } from '@floodgate/database';
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

// The actions of partners and operators on webhooks. A partner reaches only its own webhooks under the event
// of the request. Each action runs in a transaction, which is `db` here.

/** An expected outcome that leaves the webhook unchanged. Partners get the code, operators get the reason. */
export interface Refused {
  refused: FailureCode;
  reason: string;
}

export const isRefused = (outcome: object): outcome is Refused => 'refused' in outcome;

export const NO_SUCH_WEBHOOK: Refused = { refused: '70', reason: 'no such webhook' };
const PAUSED_BY_OPERATOR: Refused = { refused: '72', reason: 'the operator has paused this webhook' };

/**
 * The effect of every action. Some have more: new keys, whose secret no other operation returns, or the id of
 * a test message.
 */
export interface Changed {
  /** The webhook after the action. After it was deleted: the webhook before. */
  endpoint: Endpoint;
}

// Key of the advisory lock that serializes the creation of a partner's endpoints, so that their number is
// right. It spells "whks".
const ADD_LOCK = 0x77686b73;
const CHANGEABLE = Object.keys(WebhookChange.properties) as (keyof WebhookChange)[];
const URL_RULE = 'an https URL of at most 2048 characters, without a user and a password';
const SINCE_RULE = 'a time with an offset';

/** The fields of a partner's request that have other names on the command line. */
const Entries = typedAs('--entries', WebhookRequest.properties.entriesPerMessage);
const OverlapHours = typedAs('--overlap', WebhookRotation.properties.overlapHours);

/**
 * Returns the action that adds a webhook of a partner under an event. URLs with http are accepted in
 * development only.
 */
export const createWebhookAction = (allowsHttp: boolean) =>
  defineAction({
    name: 'webhook.create',
    input: Type.Object({
      eventId: Id,
      partnerId: Id,
      ...WebhookRequest.properties,
      entriesPerMessage: Entries,
    }),
    check: (input) => checkFields(input, allowsHttp),
    run: async (
      db,
      { eventId, partnerId, ...request },
      note,
      actor,
    ): Promise<(Changed & { keys: SigningKeys }) | Refused> => {
      const { url, description = '', types = [...WEBHOOK_EVENT_TYPES], include = [] } = request;
      const { from, paused: isPaused = false } = request;
      await keepInShard(db, eventId);
      const { shardId } = await findEvent(db, eventId);
      const owner = { shardId, eventId, partnerId };
      const granted = await sql`
        select from event_grants where event_id = ${eventId} and partner_id = ${partnerId}`.execute(db);
      if (granted.rows.length === 0)
        return { refused: '21', reason: `event ${eventId} is not open to partner ${partnerId}` };
      await sql`select pg_advisory_xact_lock(${ADD_LOCK}, ${partnerId}::integer)`.execute(db);
      if ((await listEndpoints(db, owner)).length >= WEBHOOK_LIMIT)
        return { refused: '71', reason: 'this partner already has the maximum number of webhooks' };
      const consumer = { ...owner, kind: 'webhook' as const, fromNow: from === 'now', isPaused };
      const { id, cursor: chainOffset } = await addConsumer(db, consumer);
      const entryLimit = request.entriesPerMessage ?? DEFAULT_WEBHOOK_ENTRY_LIMIT;
      const pausedBy = isPaused ? kindOf(actor) : null;
      const row = { ...owner, id, url, description, types, include, entryLimit, chainOffset, pausedBy };
      await inCamelCase(db).insertInto('webhookEndpoints').values(row).execute();
      const keys = await addKeys(db, { shardId, id });
      const endpoint = (await findEndpoint(db, { shardId, id }))!;
      note(`webhook:${id}`, { after: audited(endpoint) });
      return { endpoint, keys };
    },
  });

/** Returns the action that changes the given fields of a webhook. Its next attempt is due immediately. */
export const updateWebhookAction = (allowsHttp: boolean) =>
  onWebhook({
    name: 'webhook.update',
    input: Type.Object({
      ...WebhookPath.properties,
      ...WebhookChange.properties,
      entriesPerMessage: Entries,
    }),
    check: (change) =>
      CHANGEABLE.some((name) => change[name] !== undefined)
        ? checkFields(change, allowsHttp)
        : { '': `At least one of these fields is required: ${CHANGEABLE.join(', ')}` },
    change: async (db, endpoint, input) => {
      const { url, description, types, include, entriesPerMessage: entry_limit } = input;
      // With other content, the range in flight would be a different message, so it is not repeated.
      await retryConsumer(db, endpoint, types || include ? { in_flight_until: null } : {});
      await updateEndpoint(db, endpoint).set({ url, description, types, include, entry_limit }).execute();
      return { effect: {}, noted: url === undefined ? {} : { url: 'changed' } };
    },
  });

const OneWebhook = Type.Object(WebhookPath.properties);

/** Stops the messages of a webhook until it is resumed. A partner's pause does not replace an operator's. */
export const pauseWebhookAction = onWebhook({
  name: 'webhook.pause',
  input: OneWebhook,
  change: async (db, endpoint, _input, by) => {
    await pauseConsumer(db, endpoint);
    const pausedBy = endpoint.pausedBy === 'operator' ? 'operator' : by;
    await updateEndpoint(db, endpoint).set({ paused_by: pausedBy }).execute();
    return { effect: {} };
  },
});

/**
 * Resumes the messages of a webhook where they stopped. A partner cannot resume a webhook that an operator
 * paused.
 */
export const resumeWebhookAction = onWebhook({
  name: 'webhook.resume',
  input: OneWebhook,
  change: async (db, endpoint, _input, by) => {
    if (by === 'partner' && endpoint.pausedBy === 'operator') return PAUSED_BY_OPERATOR;
    await resumeConsumer(db, endpoint);
    await updateEndpoint(db, endpoint).set({ disabled_reason: null, paused_by: null }).execute();
    return { effect: {} };
  },
});

/** Resends everything since a time. */
export const replayWebhookAction = onWebhook({
  name: 'webhook.replay',
  input: Type.Object({ ...WebhookPath.properties, since: Type.String({ description: SINCE_RULE }) }),
  // The schema accepts a leap second, but JavaScript cannot parse it.
  check: ({ since }) => (Number.isNaN(Date.parse(since)) ? { since: SINCE_RULE } : {}),
  change: async (db, endpoint, { since }) => {
    const cursor = await cursorBefore(db, endpoint, new Date(since));
    await retryConsumer(db, endpoint, { last_offset: cursor, in_flight_until: null });
    await updateEndpoint(db, endpoint)
      // Receivers drop messages whose id they know, so a replay needs new ids.
      .set({ chain_offset: cursor, replays: sql<number>`replays + 1` })
      .execute();
    return { effect: { was: String(endpoint.cursor) }, noted: { was: endpoint.cursor, cursor } };
  },
});

/** Gives a webhook new keys. The previous keys still sign during the overlap. Older keys expire now. */
export const rotateWebhookAction = onWebhook({
  name: 'webhook.rotate',
  input: Type.Object({ ...WebhookPath.properties, overlapHours: OverlapHours }),
  change: async (db, { shardId, id }, { overlapHours = DEFAULT_WEBHOOK_OVERLAP_HOURS }) => {
    const end = (hours: number, which: RawBuilder<unknown>) =>
      sql`
        update webhook_secrets set ends_at = now() + make_interval(hours => ${hours}::integer)
        where shard_id = ${shardId} and endpoint_id = ${id} and ${which}`.execute(db);
    await end(0, sql`ends_at > now()`);
    await end(overlapHours, sql`ends_at is null`);
    const keys = await addKeys(db, { shardId, id });
    return { effect: { keys }, noted: { rotated: true, overlapHours } };
  },
});

/** Requests a test message, in any state of the webhook. The delivery process sends it. */
export const testWebhookAction = onWebhook({
  name: 'webhook.test',
  input: OneWebhook,
  change: async (db, endpoint) => {
    const messageId = `msg_test_${randomUUID()}`;
    await updateEndpoint(db, endpoint).set({ test_message: messageId }).execute();
    return { effect: { messageId }, noted: { messageId } };
  },
});

/** Deletes a webhook with its secrets. Its attempts can be millions of rows: expireAttempts deletes them. */
export const deleteWebhookAction = onWebhook({
  name: 'webhook.delete',
  input: OneWebhook,
  change: async (db, { shardId, id }) => {
    await deleteConsumer(db, { shardId, id });
    const ofShard = sql`where shard_id = ${shardId}`;
    await sql`delete from webhook_secrets ${ofShard} and endpoint_id = ${id}`.execute(db);
    await sql`delete from webhook_endpoints ${ofShard} and id = ${id}`.execute(db);
    return { effect: {} };
  },
});

/** The input of an action on one webhook. */
type OnOneWebhook = TObject & { static: { webhookId: string } };

/** The effect of an action on one webhook. */
interface ChangeOfWebhook<Input extends OnOneWebhook, Effect extends object> {
  name: string;
  input: Input;
  check?: (input: Static<Input>) => Record<string, string>;
  /**
   * Changes the endpoint. Returns what the caller gets in addition, and what the audit log records in
   * addition to its states (`noted`).
   */
  change: (
    db: Database,
    endpoint: Endpoint,
    input: Static<Input>,
    by: 'partner' | 'operator',
  ) => Promise<{ effect: Effect; noted?: Record<string, unknown> } | Refused>;
}

/**
 * Defines an action on one webhook. It locks the consumer first, like a delivery (webhook_delivered): another
 * order could deadlock. The lock excludes other changes between the states before and after, and the audit
 * log records both.
 */
function onWebhook<Input extends OnOneWebhook, Effect extends object>({
  change,
  ...action
}: ChangeOfWebhook<Input, Effect>) {
  return defineAction({
    ...action,
    run: async (db, input: Static<Input>, note, actor): Promise<(Changed & Effect) | Refused> => {
      const before = await lockEndpoint(db, input.webhookId, actor);
      if (!before) return NO_SUCH_WEBHOOK;
      const result = await change(db, before, input, kindOf(actor));
      if (isRefused(result)) return result;
      const endpoint = await findEndpoint(db, before);
      const after = endpoint && { ...audited(endpoint), ...result.noted };
      if (JSON.stringify(after) !== JSON.stringify(audited(before)))
        note(`webhook:${before.id}`, {
          eventId: before.eventId,
          before: audited(before),
          ...(after && { after }),
        });
      return { endpoint: endpoint ?? before, ...result.effect };
    },
  });
}

async function lockEndpoint(db: Database, id: string, actor: Actor) {
  const found =
    typeof actor === 'string' ? await findEndpointAnywhere(db, id) : await findEndpoint(db, { ...actor, id });
  if (!found || !(await lockConsumer(db, found))) return undefined;
  // Another transaction may have changed it before the lock was granted.
  return findEndpoint(db, found);
}

const kindOf = (actor: Actor): 'operator' | 'partner' => (typeof actor === 'string' ? 'operator' : 'partner');

/** Returns the fields of an endpoint that the audit log keeps. URLs may contain secrets. */
function audited(endpoint: Endpoint) {
  const { eventId, partnerId, types, include, entriesPerMessage } = endpoint;
  const { state, pausedBy, failures, failingSince } = endpoint;
  return { eventId, partnerId, types, include, entriesPerMessage, state, pausedBy, failures, failingSince };
}

/** Returns the fields that break a rule that the schema cannot express, each with its rule. */
function checkFields({ url, description }: WebhookChange, allowsHttp: boolean): Record<string, string> {
  return {
    ...(url !== undefined && !isWebhookUrl(url, allowsHttp) && { url: URL_RULE }),
    // Unpaired surrogates cannot be stored as they were sent.
    ...(description?.isWellFormed() === false && { description: 'text without unpaired surrogates' }),
  };
}

/** Returns whether messages can be sent to this URL. The address is checked on each connection. */
function isWebhookUrl(text: string, allowsHttp: boolean) {
  const url = URL.parse(text);
  return (allowsHttp || url?.protocol === 'https:') && url?.username === '' && url.password === '';
}

/** Returns the cursor before the first entry at or after `since`. */
async function cursorBefore(db: Database, { shardId, eventId, partnerId }: Owner, since: Date) {
  const { rows } = await sql<{ before: number | null }>`
    select min(last_offset - count) as before from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id in (0, ${partnerId})
      and at >= ${since}`.execute(db);
  return rows[0]!.before ?? journalHead(db, shardId);
}

/** Creates the current keys of an endpoint. The API may write keys, but not read them. */
async function addKeys(db: Database, { shardId, id }: ConsumerId) {
  const keys = createSigningKeys();
  const row = { shardId, endpointId: id, id: randomUUID(), ...keys };
  await inCamelCase(db).insertInto('webhookSecrets').values(row).execute();
  return keys;
}
