import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Webhook } from '@floodgate/contract';
import { LEASE_SECONDS, type Consumer } from '@floodgate/journal';
import type { Database, Mode } from '@floodgate/database';
import type { Message, Recipient } from './messages.ts';
import type { Attempt } from './post-message.ts';
import type { SigningKeys } from './signatures.ts';

// What the delivery process reads and notes of endpoints.

/** Why the service has given an endpoint up. */
export type DisabledReason = NonNullable<Webhook['disabledReason']>;

export interface EndpointToDeliver extends Recipient {
  shardId: number;
  url: string;
  mode: Mode;
  /** Whether its partner may use the event: it has the grant and a valid key of the event's mode. */
  hasAccess: boolean;
  /** Cursor of the last message that was delivered. */
  chain: number;
  /** Those that are valid, the newest first. */
  keys: Pick<SigningKeys, 'secret' | 'privateKey'>[];
  /** Null: there was none yet. */
  lastAttempt: { outcome: string; tookMs: number } | null;
}

// The same rule as for a request to the API.
const hasAccess = sql<boolean>`exists (
  select from event_grants
  join secret_keys on secret_keys.partner_id = event_grants.partner_id
  where event_grants.event_id = endpoint.event_id and event_grants.partner_id = endpoint.partner_id
    and secret_keys.mode = events.mode and secret_keys.revoked_at is null
    and coalesce(secret_keys.expires_at > now(), true)
)`;

/** Returns an endpoint with what is needed to deliver to it; undefined where it was deleted. */
export async function loadEndpoint(
  db: Database,
  shardId: number,
  id: string,
): Promise<EndpointToDeliver | undefined> {
  const [endpoint, keys, last] = await Promise.all([
    db
      .selectFrom('webhook_endpoints as endpoint')
      .innerJoin('events', 'events.id', 'endpoint.event_id')
      .select([
        'endpoint.id',
        'endpoint.shard_id as shardId',
        'url',
        'types',
        'entry_limit as entryLimit',
        'chain_offset as chain',
        'replays',
        'events.ref as eventRef',
        'events.mode',
        hasAccess.as('hasAccess'),
      ])
      .where('endpoint.shard_id', '=', shardId)
      .where('endpoint.id', '=', id)
      .executeTakeFirst(),
    validKeys(db, shardId, id),
    db
      .selectFrom('webhook_attempts')
      .select(['outcome', 'took_ms as tookMs'])
      .where('shard_id', '=', shardId)
      .where('endpoint_id', '=', id)
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst(),
  ]);
  return endpoint && { ...endpoint, keys, lastAttempt: last ?? null };
}

const validKeys = (db: Database, shardId: number, id: string) =>
  db
    .selectFrom('webhook_secrets')
    .select(['secret', 'private_key as privateKey'])
    .where('shard_id', '=', shardId)
    .where('endpoint_id', '=', id)
    .where(({ eb, or }) => or([eb('ends_at', 'is', null), eb('ends_at', '>', sql<Date>`now()`)]))
    .orderBy('created_at', 'desc')
    .execute();

/**
 * Notes that a message was delivered, and where the one ends that is under way from now on (null: none is). Returns false where the
 * lease is lost, or the endpoint was paused: nothing more may be sent then.
 */
export async function noteDelivered(
  db: Database,
  consumer: Consumer,
  message: Message,
  { tookMs, httpStatus }: Attempt,
  next: number | null,
): Promise<boolean> {
  const { shardId, id, lease } = consumer;
  const { rows } = await sql<{ kept: boolean }>`
    select webhook_delivered(
      ${shardId}, ${id}, ${lease}, make_interval(secs => ${LEASE_SECONDS}), ${message.id}, ${message.after}, ${message.until},
      ${message.entries}, ${tookMs}, ${httpStatus}, ${next}
    ) as kept`.execute(db);
  const { kept } = rows[0]!;
  if (kept) Object.assign(consumer, { cursor: message.until, until: next, failures: 0, failingSince: null });
  return kept;
}

/** Notes an attempt by which nothing was delivered, or that was a test. Of an endpoint that was deleted meanwhile none is kept. */
export async function noteAttempt(
  db: Database,
  { shardId, id }: Pick<EndpointToDeliver, 'shardId' | 'id'>,
  message: Pick<Message, 'id'> & Partial<Message>,
  { outcome, tookMs, httpStatus, error }: Attempt,
): Promise<void> {
  const { after = null, until = null, entries = 0 } = message;
  // Who deletes an endpoint begins with its consumer, and waits for this lock.
  await sql`
    insert into webhook_attempts (
      shard_id, endpoint_id, at, id, message_id, after_offset, last_offset, entries, took_ms, outcome, http_status, error
    )
    select shard_id, id, now(), ${randomUUID()}::uuid, ${message.id}::text, ${after}::bigint, ${until}::bigint,
      ${entries}::integer, ${tookMs}::integer, ${outcome}::text, ${httpStatus}::integer, ${error}::text
    from journal_consumers where shard_id = ${shardId} and id = ${id}
    for key share`.execute(db);
}

/** Notes why an endpoint is given up. */
export const noteReason = (
  db: Database,
  { shardId, id }: Pick<Consumer, 'shardId' | 'id'>,
  reason: DisabledReason,
) => changeEndpoint(db, shardId, id, { disabled_reason: reason });

/** Has the chain of cursors begin anew: what came next is no longer kept. */
export const breakChain = (db: Database, { shardId, id }: Pick<Consumer, 'shardId' | 'id'>) =>
  changeEndpoint(db, shardId, id, { chain_offset: 0 });

const changeEndpoint = (
  db: Database,
  shardId: number,
  id: string,
  change: { disabled_reason: DisabledReason } | { chain_offset: number },
) =>
  db
    .updateTable('webhook_endpoints')
    .set(change)
    .where('shard_id', '=', shardId)
    .where('id', '=', id)
    .execute();

/**
 * Takes the tests that were asked for in a shard, but not those of `except`. Each is taken once: a caller that does not see it arrive
 * asks again.
 */
export async function takeTests(db: Database, shardId: number, except: readonly string[]) {
  const asked = await db
    .selectFrom('webhook_endpoints')
    .select(['id', 'test_message as messageId'])
    .where('shard_id', '=', shardId)
    .where('test_message', 'is not', null)
    .execute();
  const taken = await Promise.all(
    asked
      .filter(({ id }) => !except.includes(id))
      .map(async ({ id, messageId }) => {
        const { numUpdatedRows } = await db
          .updateTable('webhook_endpoints')
          .set({ test_message: null })
          .where('shard_id', '=', shardId)
          .where('id', '=', id)
          .where('test_message', '=', messageId)
          .executeTakeFirst();
        return numUpdatedRows > 0n ? [{ id, messageId: messageId! }] : [];
      }),
  );
  return taken.flat();
}

/** Attempts that are deleted at once. */
const DELETED_AT_ONCE = 5_000;

/**
 * Deletes attempts of a shard that are older than so many days, and those of deleted endpoints. Returns whether there may be more. The
 * limit is per endpoint and call.
 */
export async function expireAttempts(db: Database, shardId: number, days: number): Promise<boolean> {
  let more = false;
  for (
    let id = await nextWithAttempts(db, shardId);
    id !== undefined;
    id = await nextWithAttempts(db, shardId, id)
  ) {
    // Compared by Postgres: a Date has no microseconds.
    const { numAffectedRows } = await sql`
      delete from webhook_attempts
      where shard_id = ${shardId} and endpoint_id = ${id} and at <= (
        select max(at) from (
          select at from webhook_attempts
          where shard_id = ${shardId} and endpoint_id = ${id} and (
            at < now() - make_interval(days => ${days}::integer)
            or not exists (select from webhook_endpoints where shard_id = ${shardId} and id = ${id})
          )
          order by at limit ${DELETED_AT_ONCE}
        ) old
      )`.execute(db);
    more ||= Number(numAffectedRows) >= DELETED_AT_ONCE;
  }
  return more;
}

/** Returns the next endpoint with attempts, in the order of ids; undefined at the end. One index lookup, however many attempts. */
async function nextWithAttempts(db: Database, shardId: number, after?: string): Promise<string | undefined> {
  const next = await db
    .selectFrom('webhook_attempts')
    .select('endpoint_id as id')
    .where('shard_id', '=', shardId)
    .$if(after !== undefined, (query) => query.where('endpoint_id', '>', after!))
    .orderBy('endpoint_id')
    .limit(1)
    .executeTakeFirst();
  return next?.id;
}
