import { randomBytes } from 'node:crypto';
import {
  findAccess,
  hashSecret,
  isSecretOf,
  noteKeyUse,
  parseSecretKey,
  type AccessRow,
  type Database,
  type DuplicatePolicy,
} from '@floodgate/database';
import { LRUCache } from 'lru-cache';

/** What a caller may do: its partner, and the event that it named. */
export interface GrantedAccess {
  kind: 'granted';
  partnerId: number;
  eventId: number;
  passPrefix: string;
  duplicatePolicy: DuplicatePolicy;
  /** The partner's limit; null where it has none. */
  requestsPerSecond: number | null;
}

export type Access = GrantedAccess | { kind: 'unknown-key' } | { kind: 'no-such-event' };

interface Caller {
  secretKey: string;
  eventRef: string | null;
}

const UNKNOWN_KEY: Access = { kind: 'unknown-key' };
/** The hash of no secret that anybody could know. */
const NO_HASH = hashSecret(randomBytes(32).toString('base64url'));
const NO_SUCH_EVENT: Access = { kind: 'no-such-event' };

/** Revocation and limits hold everywhere within 2 s: this, or the time that reading it anew may take (READ_WITHIN_MS). */
const MAX_AGE_MS = 1_000;
const MAX_ENTRIES = 10_000;

/** Tells what a secret key and an event reference give access to, from memory for up to a second. */
export class AccessControl {
  readonly #db: Database;
  // Found by the whole key: a hit needs no hash, and a wrong secret can only miss.
  readonly #cache: LRUCache<string, Access, Caller>;

  constructor(db: Database) {
    this.#db = db;
    this.#cache = new LRUCache({
      max: MAX_ENTRIES,
      ttl: MAX_AGE_MS,
      // An entry that is pushed out while it is being read must still reach whoever waits for it.
      ignoreFetchAbort: true,
      fetchMethod: async (_, __, { context, options }) => {
        const startedAt = performance.now();
        const access = await this.#load(context);
        // Its age counts from before it was read: meanwhile the key may have been revoked.
        options.ttl = Math.max(1, MAX_AGE_MS - (performance.now() - startedAt));
        return access;
      },
    });
  }

  /** What is known already; undefined where it has to be read from Postgres first. */
  peek(secretKey: string, eventRef: string | null): Access | undefined {
    return this.#cache.get(cacheKey(secretKey, eventRef));
  }

  /** `eventRef` is a UUID, or null where the caller named none. Rejects where Postgres does not answer. */
  check(secretKey: string, eventRef: string | null): Promise<Access> {
    return this.#cache.forceFetch(cacheKey(secretKey, eventRef), { context: { secretKey, eventRef } });
  }

  async #load({ secretKey, eventRef }: Caller): Promise<Access> {
    const parsed = parseSecretKey(secretKey);
    if (!parsed) return UNKNOWN_KEY;
    const row = await findAccess(this.#db, parsed.keyId, eventRef);
    // Compared even where there is no such key: the time until the answer must not tell which key ids exist.
    const isSecret = isSecretOf(parsed.secret, row?.secretHash ?? NO_HASH);
    if (!row || !isSecret || row.closed) return UNKNOWN_KEY;
    // Bookkeeping for operators: the caller neither waits for it nor fails with it.
    if (row.useIsUnnoted) noteKeyUse(this.#db, row.keyId).catch(() => {});
    return toAccess(row);
  }
}

const cacheKey = (secretKey: string, eventRef: string | null) =>
  `${secretKey} ${eventRef?.toLowerCase() ?? ''}`;

function toAccess(row: AccessRow): Access {
  const { partnerId, eventId, passPrefix, duplicatePolicy, requestsPerSecond } = row;
  if (eventId === null || passPrefix === null || duplicatePolicy === null) return NO_SUCH_EVENT;
  return { kind: 'granted', partnerId, eventId, passPrefix, duplicatePolicy, requestsPerSecond };
}
