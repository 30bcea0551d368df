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
      // draft-ietf-httpapi-ratelimit-headers: quota and window, then the remaining requests and the seconds
      // until the window ends.
      void reply.header('ratelimit-policy', `"partner";q=${requestsPerSecond};w=1`);
      void reply.header('ratelimit', `"partner";r=${remaining};t=${Math.ceil(endsInMs / 1_000)}`);
      const size = requests > 1 ? `, and this call counts as ${requests}` : '';
      const message = `Too many requests: at most ${requestsPerSecond} a second${size}`;
      if (!admitted) reply.fail('50', { message, retryAfterSeconds });
      return admitted;
    };
    request
      .countAs(requestsOf(request, announcedBytes(request) ?? 0))
      .then((isPassed) => isPassed && done(), done);
  };
}

/** For partners without a limit. */
export const countNothing = () => Promise.resolve(true);

/** The buffers of a connection hold as many bytes anyway, so a smaller body needs no reservation. */
const FREE_BYTES = 4 * 1024;
const MEBIBYTE = 1024 * 1024;
/** Limits of the bodies that a process holds at once, in total and per partner. */
const PROCESS_BYTES = 64 * MEBIBYTE;
const PARTNER_BYTES = 16 * MEBIBYTE;

/**
 * Returns the hook that reserves memory for a body before it is read, until it is read, or for a bulk call
 * until the answer. A chunked body counts as the largest body of the route. Without free memory the request
 * is answered 90.
 */
export function admitBody(): onRequestHookHandler {
  const enter = createBodyRoom();
  return (request, reply, done) => {
    // The API never reads the body of a GET, or a body that is too large.
    if (request.method === 'GET') return done();
    const { routeOptions, principal } = request;
    const bytes = announcedBytes(request) ?? routeOptions.bodyLimit;
    if (bytes <= FREE_BYTES || bytes > routeOptions.bodyLimit) return done();
    const leave = enter(principal.partnerId, bytes);
    // On a connection that stays open, the API would have to read the body to its end.
    if (!leave) return void reply.header('connection', 'close').fail('90');
    reply.raw.once('close', leave);
    // The parsed body of a bulk call takes as much memory as the body. Other bodies are small, and many of
    // them wait for their answers.
    if (!routeOptions.config.countsBySize) request.raw.once('end', leave);
    done();
  };
}

/**
 * Bounds the memory for bodies of unanswered requests, per partner and in total. Returns a function that
 * reserves memory for a body. It returns null without free memory, or else a function that releases the
 * memory, once. A partner without a body can reserve memory for one even if the process limit is reached, so
 * that a few slow partners cannot block the others.
 */
export function createBodyRoom() {
  // Bounded by the number of partners.
  const bytesOf = new Map<number, { held: number }>();
  let total = 0;
  return (partnerId: number, bytes: number): (() => void) | null => {
    const partner = bytesOf.getOrInsertComputed(partnerId, () => ({ held: 0 }));
    const limit = partner.held === 0 ? 2 * PROCESS_BYTES : PROCESS_BYTES;
    if (partner.held + bytes > PARTNER_BYTES || total + bytes > limit) return null;
    let reserved = bytes;
    const add = (more: number) => {
      partner.held += more;
      total += more;
    };
    add(reserved);
    return () => {
      add(-reserved);
      reserved = 0;
    };
  };
}
