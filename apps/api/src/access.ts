import {
  findAccess,
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
}

export type Access = GrantedAccess | { kind: 'unknown-key' } | { kind: 'no-such-event' };

interface Caller {
  secretKey: string;
  eventRef: string | null;
}

const UNKNOWN_KEY: Access = { kind: 'unknown-key' };
const NO_SUCH_EVENT: Access = { kind: 'no-such-event' };

/** Revocation holds everywhere within 2 s: this, and the time that reading it anew may take. */
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
      fetchMethod: (_, __, { context }) => this.#load(context),
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
    if (!row || !isSecretOf(parsed.secret, row.secretHash) || row.closed) return UNKNOWN_KEY;
    // Bookkeeping for operators: the caller neither waits for it nor fails with it.
    if (row.useIsUnnoted) noteKeyUse(this.#db, row.keyId).catch(() => {});
    return toAccess(row);
  }
}

const cacheKey = (secretKey: string, eventRef: string | null) =>
  `${secretKey} ${eventRef?.toLowerCase() ?? ''}`;

function toAccess(row: AccessRow): Access {
  const { partnerId, eventId, passPrefix, duplicatePolicy } = row;
  if (eventId === null || passPrefix === null || duplicatePolicy === null) return NO_SUCH_EVENT;
  return { kind: 'granted', partnerId, eventId, passPrefix, duplicatePolicy };
}
