import type { FastifyReply, onRequestHookHandler } from 'fastify';
import type { Database } from '@floodgate/database';
import { announcedBytes, requestsOf } from '@floodgate/http';
import { drawInTime } from '@floodgate/database/limits/draw-permits';
import { QuotaLease, type Verdict } from '@floodgate/database/limits/quota-lease';
import type { Logger } from '@floodgate/service';

/**
 * Returns the hook that holds partners to their limit, whatever route they call, before a byte of the body is read. It
 * counts over all processes, without a round trip for every request. `db` has the shared counter: it needs connections of its
 * own, because the reads of the partner to be limited would block it.
 */
export function limitRate(db: Database, log: Logger): onRequestHookHandler {
  const draw = drawInTime(db, log);
  // Bounded by the number of partners that have a limit.
  const leases = new Map<number, QuotaLease>();
  const createLease = (id: number) =>
    new QuotaLease((wanted) => draw({ table: 'rate_limit_windows', id }, wanted));
  return function limitRequestRate(request, reply, done) {
    const { partnerId, requestsPerSecond } = request.principal;
    // Most partners have none, and are spared the promise.
    if (requestsPerSecond === null) return done();
    const lease = leases.getOrInsertComputed(partnerId, createLease);
    let counted = 0;
    request.countAs = async (requests: number) => {
      const more = requests - counted;
      if (more <= 0) return true;
      counted = requests;
      return passOrRefuse(reply, requests, requestsPerSecond, await lease.take(requestsPerSecond, more));
    };
    request
      .countAs(requestsOf(request, announcedBytes(request) ?? 0))
      .then((isPassed) => isPassed && done(), done);
  };
}

/** For partners without a limit. */
export const countNothing = () => Promise.resolve(true);

function passOrRefuse(reply: FastifyReply, requests: number, limit: number, verdict: Verdict): boolean {
  const { admitted, remaining, endsInMs, retryAfterSeconds = 1 } = verdict;
  // draft-ietf-httpapi-ratelimit-headers: quota and window, then what remains and the seconds until it is renewed.
  void reply.header('ratelimit-policy', `"partner";q=${limit};w=1`);
  void reply.header('ratelimit', `"partner";r=${remaining};t=${Math.ceil(endsInMs / 1_000)}`);
  const size = requests > 1 ? `, and this call counts as ${requests}` : '';
  const message = `Too many requests: at most ${limit} a second${size}`;
  if (!admitted) reply.fail('50', { message, retryAfterSeconds });
  return admitted;
}
