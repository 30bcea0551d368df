import { randomBytes } from 'node:crypto';
import { findAccess, noteKeyUse, type AccessQuery, type AccessRow } from './find-access.ts';
import { hashSecret, isSecretOf, parseSecretKey } from '../keys/secret-key.ts';
import { BatchLoader, readThroughCache, type Database } from '@floodgate/database';
import type { PartnerPrincipal } from '@floodgate/http';
import type { LRUCache } from 'lru-cache';

/** What a secret key and an event reference stand for. */
export type Access = PartnerPrincipal | { kind: 'unknown-key' } | { kind: 'no-such-event' };

/** What a caller says of itself. */
interface Caller extends AccessQuery {
  secret: string;
}

const UNKNOWN_KEY: Access = { kind: 'unknown-key' };
/** The hash of no secret that anybody could know. */
const NO_HASH = hashSecret(randomBytes(32).toString('base64url'));
const NO_SUCH_EVENT: Access = { kind: 'no-such-event' };

/**
 * Tells what a secret key and an event reference give access to, from memory for up to a second. Revocation and limits
 * hold everywhere within 2 s: that, or the time that reading it anew may take (READ_WITHIN_MS).
 */
export class AccessControl {
  readonly #db: Database;
  // Found by the whole key: a hit needs no hash, and a wrong secret can only miss.
  readonly #cache: LRUCache<string, Access, Caller>;

  constructor(db: Database) {
    this.#db = db;
    const loader = new BatchLoader((callers: Caller[]) => this.#load(callers));
    this.#cache = readThroughCache((_, caller) => loader.read(caller));
  }

  /** Returns what is known already; undefined where it has to be read from Postgres first. */
  peek(secretKey: string, eventRef: string | null): Access | undefined {
    return this.#cache.get(cacheKey(secretKey, eventRef));
  }

  /** Resolves to what Postgres says. `eventRef` is a UUID, or null where the caller named none. Rejects where it is down. */
  async check(secretKey: string, eventRef: string | null): Promise<Access> {
    const parsed = parseSecretKey(secretKey);
    // Neither asked for nor remembered: anybody may send such text, and much of it.
    if (!parsed) return UNKNOWN_KEY;
    return this.#cache.forceFetch(cacheKey(secretKey, eventRef), { context: { ...parsed, eventRef } });
  }

  async #load(callers: Caller[]): Promise<Access[]> {
    const rows = await findAccess(this.#db, callers);
    const unnoted = new Set<string>();
    const accesses = callers.map(({ secret }, index) => {
      const row = rows[index];
      // Compared even where there is no such key: the time until the answer must not tell which key ids exist.
      const isSecret = isSecretOf(secret, row?.secretHash ?? NO_HASH);
      if (!row || !isSecret || row.closed) return UNKNOWN_KEY;
      if (row.useIsUnnoted) unnoted.add(row.keyId);
      return toAccess(row);
    });
    // Bookkeeping for operators: the callers neither wait for it nor fail with it.
    if (unnoted.size > 0) noteKeyUse(this.#db, [...unnoted]).catch(() => {});
    return accesses;
  }
}

const cacheKey = (secretKey: string, eventRef: string | null) =>
  `${secretKey} ${eventRef?.toLowerCase() ?? ''}`;

function toAccess(row: AccessRow): Access {
  const { partnerId, eventId, passPrefix, duplicatePolicy, requestsPerSecond } = row;
  if (eventId === null || passPrefix === null || duplicatePolicy === null) return NO_SUCH_EVENT;
  return { kind: 'partner', partnerId, eventId, passPrefix, duplicatePolicy, requestsPerSecond };
}
