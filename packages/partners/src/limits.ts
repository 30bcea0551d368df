import type { onRequestHookHandler } from 'fastify';
import type { Database } from '@floodgate/database';
import { quotaLeases, type QuotaLease } from '@floodgate/database/limits/quota-lease';
import { announcedBytes, requestsOf } from '@floodgate/http';
import { systemClock, type Logger } from '@floodgate/service';

/**
 * Returns the hook that enforces the limits of partners on every route, before the body is read. It counts
 * over all processes, without a round trip per request. `db` has the shared counter. It needs its own
 * connections: otherwise the reads of a partner over its limit would block it.
 */
export function limitRate(db: Database, log: Logger, clock = systemClock): onRequestHookHandler {
  // Bounded by the number of partners that have a limit.
  const leases = new Map<number, QuotaLease>();
  const createLease = quotaLeases(db, log, 'rate_limit_windows', clock);
  return (request, reply, done) => {
    const { partnerId, requestsPerSecond } = request.principal;
    // Most partners have no limit. Their requests skip the promise.
    if (requestsPerSecond === null) return done();
    const lease = leases.getOrInsertComputed(partnerId, createLease);
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

/** For partners without a limit. */
export const countNothing = () => Promise.resolve(true);
