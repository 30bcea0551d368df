import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import { drawPermits, type Draw } from './draw-permits.ts';
import { type Database } from '@floodgate/database';
import type { Logger } from '@floodgate/service';
import { Lease } from './quota-lease.ts';

/** How long requests may wait for the shared counter before this process decides alone. */
export const DRAW_WITHIN_MS = 500;

/**
 * Counts partners' requests for @fastify/rate-limit, over all processes: closely, but without a round trip for every
 * request. Keys are partners' ids, the window is a second.
 */
export class PermitStore implements FastifyRateLimitStore {
  readonly #db: Database;
  readonly #log: Logger;
  // Bounded by the number of partners that have a limit.
  readonly #leases = new Map<string, Lease>();
  #isAlone = false;

  /** `db` is where the shared counter is: connections of its own, or the reads of the partner to be limited block it. */
  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Counts a request of a partner: `current` is above the limit where it may not pass, and else what all have used. */
  incr(...[key, answer, , limit]: Parameters<FastifyRateLimitStore['incr']>): void {
    this.#leaseOf(key)
      .take(limit)
      .then(
        ({ admitted, remaining, endsInMs }) =>
          answer(null, { current: admitted ? limit - remaining : limit + 1, ttl: endsInMs }),
        answer,
      );
  }

  /** A limit is the partner's, whatever route it calls. */
  child(): this {
    return this;
  }

  #leaseOf(key: string): Lease {
    const known = this.#leases.get(key);
    if (known) return known;
    const lease = new Lease((wanted) => this.#draw(Number(key), wanted));
    this.#leases.set(key, lease);
    return lease;
  }

  async #draw(partnerId: number, wanted: number): Promise<Draw | null> {
    const draw = drawPermits(this.#db, partnerId, wanted).catch((error: Error) => error);
    const late = delay(DRAW_WITHIN_MS, new Error(`no answer within ${DRAW_WITHIN_MS} ms`), { ref: false });
    const result = await Promise.race([draw, late]);
    this.#note(result instanceof Error ? result : null);
    return result instanceof Error ? null : result;
  }

  #note(error: Error | null): void {
    if (this.#isAlone === (error !== null)) return;
    this.#isAlone = error !== null;
    if (error) this.#log.warn({ err: error }, 'rate limits are not shared: their counter does not answer');
    else this.#log.info('rate limits are shared again');
  }
}
