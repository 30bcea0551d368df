import { randomBytes } from 'node:crypto';
import { isUuid } from '@floodgate/contract';
import {
  batchLoader,
  inCamelCase,
  plainArray,
  readThroughCache,
  type Database,
  type DuplicatePolicy,
  type DuplicateScope,
  type Mode,
} from '@floodgate/database';
import { systemClock, withDeadline } from '@floodgate/service';
import type { onRequestHookHandler, preValidationHookHandler } from 'fastify';
import { sql } from 'kysely';
import { hashSecret, isSecretOf, parseSecretKey, type SecretKey } from './keys.ts';

/** A partner, identified by its secret key, and an event that is granted to it. */
export interface PartnerPrincipal {
  kind: 'partner';
  /**
   * Mode of the key and of the event; both are the same. In mode `test`, nothing is ever sent to attendees.
   */
  mode: Mode;
  partnerId: number;
  eventId: number;
  /** The event's shard. */
  shardId: number;
  passPrefix: string;
  duplicatePolicy: DuplicatePolicy;
  duplicateScope: DuplicateScope;
  /** Cancellation deadline of the event, by Postgres's clock. Null: none. */
  cancelUntil: Date | null;
  /** The partner's limit. Null: none. */
  requestsPerSecond: number | null;
  /** The partner's share if partners compete for seats, relative to other partners. */
  weight: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: PartnerPrincipal;
    /** How long the request waited for its principal. */
    authenticationMs: number;
    /**
     * When the time for the answer began, by the clock of the API. The time in which the client sends the
     * body does not count.
     */
    startedAt: number;
  }
}

/** The credentials of a caller. */
interface Caller extends SecretKey {
  /** A UUID; null: the header had none. */
  eventRef: string | null;
}

/** The row for a key id and an event reference. */
interface AccessRow extends Omit<PartnerPrincipal, 'kind' | 'eventId'> {
  /** Position of the caller, from 1. A caller without a row has an unknown key. */
  position: number;
  keyId: string;
  secretHash: Buffer;
  /** Revoked or expired, by Postgres's clock, or its partner is disabled. */
  closed: boolean;
  /** The use of the key in this hour is not recorded yet. */
  useIsUnnoted: boolean;
  /**
   * Null, like the other columns of the event, unless the reference names an event of the key's mode that is
   * granted to its partner.
   */
  eventId: number | null;
}

/** A caller without access. */
interface Refused {
  kind: 'refused';
  reason: 'unknown-key' | 'no-such-event';
  /** The partner of the key, if its secret is right. */
  partnerId: number | undefined;
}

/** The access of a caller, or the reason for the refusal. */
type Access = PartnerPrincipal | Refused;

const UNKNOWN_KEY: Refused = { kind: 'refused', reason: 'unknown-key', partnerId: undefined };

/** The hash of a secret that nobody knows. */
const NO_HASH = hashSecret(randomBytes(32).toString('base64url'));

/**
 * Resolves to the access of each caller, in order. The event must have the key's mode and be granted to its
 * partner. Records the use of the keys by `notes`.
 */
async function loadAccess(db: Database, notes: Database, callers: readonly Caller[]) {
  const { rows } = await sql<AccessRow>`
    select query.position, k.key_id, k.secret_hash, k.mode, k.partner_id, p.requests_per_second, p.weight,
      k.revoked_at is not null or p.disabled_at is not null or coalesce(k.expires_at <= now(), false) as closed,
      coalesce(u.hour < date_trunc('hour', now()), true) as use_is_unnoted,
      e.id as event_id, e.shard_id, e.pass_prefix, e.duplicate_policy, e.duplicate_scope, e.cancel_until
    from unnest(
      ${plainArray(callers.map(({ keyId }) => keyId))}::text[],
      ${plainArray(callers.map(({ eventRef }) => eventRef))}::uuid[]
    ) with ordinality as query (key_id, event_ref, position)
    join secret_keys k on k.key_id = query.key_id
    join partners p on p.id = k.partner_id
    left join secret_key_uses u on u.key_id = k.key_id
    -- The event first: a partner can have thousands of grants, and without statistics Postgres would read all
    -- of them.
    left join events e on e.ref = query.event_ref and e.mode = k.mode
      and exists (select from event_grants g where g.partner_id = k.partner_id and g.event_id = e.id)`.execute(
    inCamelCase(db),
  );
  const byPosition = new Map(rows.map(({ position, ...row }) => [position, row]));
  const unnoted = new Set<string>();
  const accesses = callers.map(({ secret, mode }, index): Access => {
    const row = byPosition.get(index + 1);
    // Compared even if there is no such key: the response time must not reveal which key ids exist.
    const isSecret = isSecretOf(secret, row?.secretHash ?? NO_HASH);
    // The mode in the key's text is for people. It must match the mode of the issued key.
    if (!row || !isSecret) return UNKNOWN_KEY;
    if (row.closed || row.mode !== mode) return { ...UNKNOWN_KEY, partnerId: row.partnerId };
    const { keyId, secretHash: _, closed: _open, useIsUnnoted, eventId, ...partner } = row;
    if (useIsUnnoted) unnoted.add(keyId);
    if (eventId === null) return { kind: 'refused', reason: 'no-such-event', partnerId: partner.partnerId };
    return { kind: 'partner', eventId, ...partner };
  });
  // Information for operators: the callers do not wait for it, and do not fail if it fails.
  if (unnoted.size > 0) noteKeyUse(notes, [...unnoted]).catch(() => {});
  return accesses;
}

// Only one transaction at a time records the use of a key. The integer spells "keys".
const NOTE_LOCK = 0x6b657973;

/**
 * Records the hour in which keys were used: one write per key and hour, whatever the traffic. Skips keys that
 * another transaction is recording.
 */
export async function noteKeyUse(db: Database, keyIds: readonly string[]) {
  await sql`
    insert into secret_key_uses as noted (key_id, hour)
    select key_id, date_trunc('hour', now()) from unnest(${plainArray(keyIds)}::text[]) as key_id
    where pg_try_advisory_xact_lock(${sql.lit(NOTE_LOCK)}, hashtext(key_id))
    on conflict (key_id) do update set hour = excluded.hour where noted.hour < excluded.hour`.execute(db);
}

/**
 * Returns a function that finds the access of a secret key and an event reference, cached for up to a second.
 * Revocations and limits take effect everywhere within 2 s: after the age of the cached access, or after the
 * time that a new read can take (READ_WITHIN_MS). The use of keys is recorded by `notes`, so that it delays
 * no look-up.
 */
export function accessControl(db: Database, clock = systemClock, notes = db): FindAccess {
  const load = batchLoader((callers: Caller[]) => loadAccess(db, notes, callers));
  const cache = readThroughCache<string, Access, Caller>((_, caller) => load(caller), undefined, clock);
  /** A reference that is not a UUID names no event. Rejects if Postgres is down. */
  return (secretKey, reference) => {
    // The cache key contains the whole secret key: a hit needs no hash, and a wrong secret never hits. Only
    // well-formed keys are cached.
    const cached = cache.get(`${secretKey} ${String(reference)}`);
    if (cached) return cached;
    const parsed = parseSecretKey(secretKey);
    // Not read and not cached: anybody can send any amount of such text.
    if (!parsed) return UNKNOWN_KEY;
    const eventRef = isUuid(reference) ? reference.toLowerCase() : null;
    return cache.forceFetch(`${secretKey} ${eventRef}`, { context: { ...parsed, eventRef } });
  };
}

/** Returns the cached access for two header values, or resolves to the access that Postgres returns. */
type FindAccess = (secretKey: string, reference: unknown) => Access | Promise<Access>;

/**
 * Returns the hook that starts the time for the answer when the body is read. The wait for the principal
 * counts as well.
 */
export function startTime(clock = systemClock): preValidationHookHandler {
  return (request, _reply, done) => {
    request.startedAt = clock.now() - request.authenticationMs;
    done();
  };
}

/**
 * Returns the hook that sets the principal before the body is read. It checks the key first, then the event
 * reference, then the event. A caller whose access is not found within the time for an answer gets 90.
 */
export function authenticate(
  find: FindAccess,
  answerWithinMs: number,
  clock = systemClock,
): onRequestHookHandler {
  return (request, reply, done) => {
    // A shared cache must not send the answer for one partner to another: caches know Authorization, but not
    // x-secret-key.
    void reply.header('cache-control', 'no-store');
    const secretKey = request.headers['x-secret-key'];
    const reference = request.headers['x-event-ref'];
    if (typeof secretKey !== 'string' || secretKey === '') {
      reply.fail('20', secretKey === undefined ? { message: 'x-secret-key is missing' } : {});
      return;
    }
    const refuse = ({ reason, partnerId }: Refused) => {
      // Its refusals are counted.
      request.refusedPartnerId = partnerId;
      if (reason === 'unknown-key') return void reply.fail('20');
      return void reply.fail(isUuid(reference) ? '21' : '12');
    };
    const admit = (access: Access) => {
      if (access.kind === 'refused') return refuse(access);
      request.principal = access;
      return done();
    };
    const access = find(secretKey, reference);
    if (access instanceof Promise) {
      const askedAt = clock.now();
      const admitLate = (late: Access | null) => {
        request.authenticationMs = clock.now() - askedAt;
        return late === null ? void reply.fail('90') : admit(late);
      };
      // A read can wait for the one before it, so its own limits do not bound the wait.
      withDeadline(access, answerWithinMs, () => null, clock)
        .then(admitLate)
        .catch(done);
    } else admit(access);
  };
}
