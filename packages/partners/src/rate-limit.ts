import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Database } from '@floodgate/database';
import { quotaLeases, type QuotaLease } from '@floodgate/database/limits/quota-lease';
import { announcedBytes, requestsOf } from '@floodgate/http';
import { systemClock, type Clock, type Logger } from '@floodgate/service';

/** The caller whose limits a request counts against: a partner, or a device at a door. */
export type LimitedCaller =
  | { kind: 'partner'; partnerId: number; requestsPerSecond: number | null }
  | { kind: 'device'; deviceId: number; requestsPerSecond: number };

/**
 * Returns the number under which the use of a caller is counted. One table counts for partners and devices,
 * so that of a device is negative.
 */
export const counterIdOf = (caller: LimitedCaller): number =>
  caller.kind === 'partner' ? caller.partnerId : -caller.deviceId;

export interface RateLimitOptions {
  /**
   * Has the shared counters. Needs its own connections: otherwise the reads of a caller over its limit would
   * block them.
   */
  db: Database;
  log: Logger;
  /** Returns the authenticated caller of a request. */
  callerOf: (request: FastifyRequest) => LimitedCaller;
  clock?: Clock | undefined;
}

/**
 * Returns the hook that enforces the limits of callers on every route, before the body is read. It counts
 * over all processes, without a round trip per request.
 */
export function limitRate({
  db,
  log,
  callerOf,
  clock = systemClock,
}: RateLimitOptions): onRequestHookHandler {
  // Bounded by the number of callers that have a limit.
  const leases = new Map<number, QuotaLease>();
  const createLease = quotaLeases(db, log, 'rate_limit_windows', clock);
  return (request, reply, done) => {
    const caller = callerOf(request);
    const { requestsPerSecond } = caller;
    // Most partners have no limit. Their requests skip the promise.
    if (requestsPerSecond === null) return done();
    const lease = leases.getOrInsertComputed(counterIdOf(caller), createLease);
    let counted = 0;
    request.countAs = async (requests: number) => {
      const more = requests - counted;
      if (more <= 0) return true;
      counted = requests;
      const verdict = await lease.take(requestsPerSecond, more);
      const { admitted, remaining, endsInMs, retryAfterSeconds = 1 } = verdict;
      const canPass = requests <= requestsPerSecond;
      // draft-ietf-httpapi-ratelimit-headers: quota and window, then the remaining requests and the seconds
      // until the window ends.
      void reply.header('ratelimit-policy', `"partner";q=${requestsPerSecond};w=1`);
      void reply.header('ratelimit', `"partner";r=${remaining};t=${Math.ceil(endsInMs / 1_000)}`);
      const size = requests > 1 ? `, and this call counts as ${requests}` : '';
      const hint = canPass ? '' : '. It can never pass: send smaller calls';
      const message = `Too many requests: at most ${requestsPerSecond} a second${size}${hint}`;
      if (!admitted) reply.fail('50', { message, retryAfterSeconds: canPass ? retryAfterSeconds : null });
      return admitted;
    };
    request
      .countAs(requestsOf(request, announcedBytes(request) ?? 0))
      .then((isPassed) => isPassed && done(), done);
  };
}

/** For callers without a limit. */
export const countNothing = () => Promise.resolve(true);
