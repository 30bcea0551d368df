import type { Database } from '@floodgate/database';
import { withDeadline, type Logger } from '@floodgate/service';
import { drawPermits, type Draw } from './draw-permits.ts';
import { QuotaLease, type Verdict } from './quota-lease.ts';

/** How long requests may wait for the shared counter before this process decides alone. */
export const DRAW_WITHIN_MS = 500;

/** Counts partners' requests over all processes: closely, but without a round trip for every request. */
export class RateLimiter {
  readonly #db: Database;
  readonly #log: Logger;
  // Bounded by the number of partners that have a limit.
  readonly #leases = new Map<number, QuotaLease>();
  #isAlone = false;

  /** `db` is where the shared counter is: connections of its own, or the reads of the partner to be limited block it. */
  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Counts a request of a partner against its limit per second, whatever route it calls. Resolves to what it may do. */
  take(partnerId: number, limit: number): Promise<Verdict> {
    let lease = this.#leases.get(partnerId);
    if (!lease) {
      lease = new QuotaLease((wanted) => this.#draw(partnerId, wanted));
      this.#leases.set(partnerId, lease);
    }
    return lease.take(limit);
  }

  async #draw(partnerId: number, wanted: number): Promise<Draw | null> {
    const late = () => new Error(`no answer within ${DRAW_WITHIN_MS} ms`);
    const draw = drawPermits(this.#db, partnerId, wanted).catch((error: Error) => error);
    const result = await withDeadline(draw, DRAW_WITHIN_MS, late);
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
