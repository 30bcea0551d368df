import { randomBytes } from 'node:crypto';
import { isUuid } from '@floodgate/contract';
import {
  batchLoader,
  plainArray,
  readThroughCache,
  type Database,
  type DuplicatePolicy,
  type DuplicateScope,
  type Mode,
} from '@floodgate/database';
import type { onRequestHookHandler } from 'fastify';
import { sql } from 'kysely';
import { hashSecret, isSecretOf, parseSecretKey, type SecretKey } from './keys.ts';

/** A partner, by its secret key, and the event that it named and that is granted to it. */
interface PartnerPrincipal {
  kind: 'partner';
  /** Of key and event, which is the same. Under `test` nothing may ever be sent to anybody outside. */
  mode: Mode;
  partnerId: number;
  eventId: number;
  /** Where the event lives. */
  shardId: number;
  passPrefix: string;
  duplicatePolicy: DuplicatePolicy;
  duplicateScope: DuplicateScope;
  /** Until when its registrations may be cancelled, by Postgres's clock. Null: at any time. */
  cancelUntil: Date | null;
  /** The partner's limit; null where it has none. */
  requestsPerSecond: number | null;
  /** The partner's share where partners compete, relative to others'. */
  weight: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: PartnerPrincipal;
  }
}

/** The credentials of a caller: a key, by its id in hexadecimal, and an event by its reference, a UUID or null. */
interface Caller extends SecretKey {
  eventRef: string | null;
}

/** The database rows of a key id and an event reference. */
interface AccessRow extends Omit<PartnerPrincipal, 'kind' | 'eventId'> {
  /** Of the caller, from 1. A caller without a row has no such key. */
  position: number;
  keyId: string;
  secretHash: Buffer;
  /** Revoked or expired, by Postgres's clock. */
  closed: boolean;
  /** The last use is not yet noted for this hour. */
  useIsUnnoted: boolean;
  /** Null, with the rest of the event, unless the reference names one of the key's mode that is granted to the key's partner. */
  eventId: number | null;
}

/** The access of a caller, or the reason for the refusal. */
type Access = PartnerPrincipal | 'unknown-key' | 'no-such-event';

/** The hash of no secret that anybody could know. */
const NO_HASH = hashSecret(randomBytes(32).toString('base64url'));

/** Resolves to what each caller has access to, in order: its key, and its event if that is of the same mode and granted to the partner. */
async function loadAccess(db: Database, callers: readonly Caller[]): Promise<Access[]> {
  const { rows } = await sql<AccessRow>`
    select query.position, k.key_id as "keyId", k.secret_hash as "secretHash", k.mode,
      k.partner_id as "partnerId", p.requests_per_second as "requestsPerSecond", p.weight,
      k.revoked_at is not null or coalesce(k.expires_at <= now(), false) as closed,
      coalesce(u.hour < date_trunc('hour', now()), true) as "useIsUnnoted",
      e.id as "eventId", e.shard_id as "shardId", e.pass_prefix as "passPrefix", e.duplicate_policy as "duplicatePolicy",
      e.duplicate_scope as "duplicateScope", e.cancel_until as "cancelUntil"
    from unnest(
      ${plainArray(callers.map(({ keyId }) => keyId))}::text[],
      ${plainArray(callers.map(({ eventRef }) => eventRef))}::uuid[]
    ) with ordinality as query (key_id, event_ref, position)
    join secret_keys k on k.key_id = query.key_id
    join partners p on p.id = k.partner_id
    left join secret_key_uses u on u.key_id = k.key_id
    -- The event first: a partner may have thousands, and without statistics Postgres would read all their grants.
    left join events e on e.ref = query.event_ref and e.mode = k.mode
      and exists (select from event_grants g where g.partner_id = k.partner_id and g.event_id = e.id)`.execute(
    db,
  );
  const found = new Map(rows.map(({ position, ...row }) => [position, row]));
  const unnoted = new Set<string>();
  const accesses = callers.map(({ secret, mode }, index): Access => {
    const row = found.get(index + 1);
    // Compared even where there is no such key: the time until the answer must not tell which key ids exist.
    const isSecret = isSecretOf(secret, row?.secretHash ?? NO_HASH);
    // The text says the mode, for people; what counts is what was issued.
    if (!row || !isSecret || row.closed || row.mode !== mode) return 'unknown-key';
    const { keyId, secretHash: _, closed: _open, useIsUnnoted, eventId, ...partner } = row;
    if (useIsUnnoted) unnoted.add(keyId);
    return eventId === null ? 'no-such-event' : { kind: 'partner', eventId, ...partner };
  });
  // Bookkeeping for operators: the callers neither wait for it nor fail with it.
  if (unnoted.size > 0) noteKeyUse(db, [...unnoted]).catch(() => {});
  return accesses;
}

// Keeps those who note the same key apart. The integer spells "keys".
const NOTE_LOCK = 0x6b657973;

/**
 * Notes that keys are in use, to the hour: one write per key and hour, whatever the traffic. A key that somebody else is
 * just noting is not waited for.
 */
export async function noteKeyUse(db: Database, keyIds: readonly string[]): Promise<void> {
  await sql`
    insert into secret_key_uses as noted (key_id, hour)
    select key_id, date_trunc('hour', now()) from unnest(${plainArray(keyIds)}::text[]) as key_id
    where pg_try_advisory_xact_lock(${sql.lit(NOTE_LOCK)}, hashtext(key_id))
    on conflict (key_id) do update set hour = excluded.hour where noted.hour < excluded.hour`.execute(db);
}

/**
 * Returns what tells which access a secret key and an event reference give, from memory for up to a second. Revocation and limits
 * hold everywhere within 2 s: that, or the time that reading it again may take (READ_WITHIN_MS).
 */
export function accessControl(db: Database) {
  const load = batchLoader((callers: Caller[]) => loadAccess(db, callers));
  const cache = readThroughCache<string, Access, Caller>((_, caller) => load(caller));
  /**
   * Returns what is known of two headers as they came, or resolves to what Postgres says. Without a UUID the reference names no
   * event. Rejects where Postgres is down.
   */
  return function find(secretKey: string, reference: unknown): Access | Promise<Access> {
    // By the whole key: a hit needs no hash, and a wrong secret can only miss. Only what is well-formed is remembered.
    const known = cache.get(`${secretKey} ${String(reference)}`);
    if (known) return known;
    const parsed = parseSecretKey(secretKey);
    // Neither asked for nor remembered: anybody may send such text, and much of it.
    if (!parsed) return 'unknown-key';
    const eventRef = isUuid(reference) ? reference.toLowerCase() : null;
    return cache.forceFetch(`${secretKey} ${eventRef}`, { context: { ...parsed, eventRef } });
  };
}

/**
 * Returns the hook that sets the principal: key first, then event reference, then the event itself, and all of it before a
 * byte of the body is read.
 */
export function authenticate(find: ReturnType<typeof accessControl>): onRequestHookHandler {
  return function authenticateRequest(request, reply, done) {
    // A cache on the way must not give one partner's answer to another: it knows Authorization, but not this header.
    void reply.header('cache-control', 'no-store');
    const secretKey = request.headers['x-secret-key'];
    const reference = request.headers['x-event-ref'];
    if (typeof secretKey !== 'string' || secretKey === '') {
      reply.fail('20', secretKey === undefined ? { message: 'x-secret-key is missing' } : {});
      return;
    }
    const admit = (access: Access) => {
      if (access === 'unknown-key') return void reply.fail('20');
      if (access === 'no-such-event') return void reply.fail(isUuid(reference) ? '21' : '12');
      request.principal = access;
      return done();
    };
    const access = find(secretKey, reference);
    if (access instanceof Promise) access.then(admit).catch(done);
    else admit(access);
  };
}
