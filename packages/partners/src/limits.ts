import type { FastifyReply, onRequestHookHandler } from 'fastify';
import type { Database } from '@floodgate/database';
import { quotaLeases, type QuotaLease, type Verdict } from '@floodgate/database/limits/quota-lease';
import { announcedBytes, requestsOf } from '@floodgate/http';
import type { Logger } from '@floodgate/service';

/**
 * Returns the hook that holds partners to their limit, whatever route they call, before a byte of the body is read. It
 * counts over all processes, without a round trip for every request. `db` has the shared counter: it needs connections of its
 * own, because the reads of the partner to be limited would block it.
 */
export function limitRate(db: Database, log: Logger): onRequestHookHandler {
  // Bounded by the number of partners that have a limit.
  const leases = new Map<number, QuotaLease>();
  const createLease = quotaLeases(db, log, 'rate_limit_windows');
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

/** The buffers of a connection hold as much anyway: a smaller body needs no room. */
const FREE_BYTES = 4 * 1024;
const MEBIBYTE = 1024 * 1024;
/** Bytes of bodies that a process holds at once, and how many of them may be one partner's. */
const PROCESS_BYTES = 64 * MEBIBYTE;
const PARTNER_BYTES = 16 * MEBIBYTE;

/**
 * Returns the hook that reserves memory for a body before a byte of it is read: until it is read, or for a bulk call until the
 * answer. A chunked body counts as the largest that the route reads. Without room the request is answered 90.
 */
export function admitBody(): onRequestHookHandler {
  const enter = createBodyRoom();
  return (request, reply, done) => {
    // Nobody reads the body of a GET, nor one that is too large.
    if (request.method === 'GET') return done();
    const { routeOptions, principal } = request;
    const bytes = announcedBytes(request) ?? routeOptions.bodyLimit;
    if (bytes <= FREE_BYTES || bytes > routeOptions.bodyLimit) return done();
    const leave = enter(principal.partnerId, bytes);
    // A connection that stays open would have to be read to the end of the body.
    if (!leave) return void reply.header('connection', 'close').fail('90');
    reply.raw.once('close', leave);
    // The parsed body of a bulk call is as large as the body. Other bodies are small, and many of them wait for their answers.
    if (!routeOptions.config.countsBySize) request.raw.once('end', leave);
    done();
  };
}

/**
 * Bounds the memory that the bodies of unanswered requests take, of one partner and of all together. Returns what reserves room
 * for a body: it returns what gives the room back, once, or null when there is none. A partner that holds no body gets room for one
 * even when the others fill the process, so that a few slow partners cannot lock out the rest.
 */
export function createBodyRoom() {
  // Bounded by the number of partners.
  const bytesOf = new Map<number, { held: number }>();
  let total = 0;
  return function enter(partnerId: number, bytes: number): (() => void) | null {
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
