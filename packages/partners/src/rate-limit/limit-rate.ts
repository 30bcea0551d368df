import type { FastifyReply, onRequestHookHandler } from 'fastify';
import type { Verdict } from './quota-lease.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** Returns the hook that holds partners to their limit, before a byte of the body is read. */
export function limitRate(limiter: RateLimiter): onRequestHookHandler {
  return function limitRequestRate({ principal: { partnerId, requestsPerSecond } }, reply, done) {
    // Most partners have none, and are spared the promise.
    if (requestsPerSecond === null) done();
    else
      limiter
        .take(partnerId, requestsPerSecond)
        .then((verdict) => passOrRefuse(reply, requestsPerSecond, verdict, done), done);
  };
}

function passOrRefuse(reply: FastifyReply, limit: number, verdict: Verdict, done: () => void): void {
  const { admitted, remaining, endsInMs } = verdict;
  // draft-ietf-httpapi-ratelimit-headers: quota and window, then what remains and the seconds until it is renewed.
  void reply.header('ratelimit-policy', `"partner";q=${limit};w=1`);
  void reply.header('ratelimit', `"partner";r=${remaining};t=${Math.ceil(endsInMs / 1_000)}`);
  if (admitted) done();
  else reply.fail('50', { message: `Too many requests: at most ${limit} a second` });
}
