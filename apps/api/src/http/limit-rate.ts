import type { FastifyReply, onRequestHookHandler } from 'fastify';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { Verdict } from '../rate-limit/lease.ts';
import { refuse } from './refuse.ts';

/** The hook that holds a partner with a limit to it, before a byte of the body is read. */
export function limitRate(rateLimiter: Pick<RateLimiter, 'admit'>): onRequestHookHandler {
  return function limitRequestRate(request, reply, done) {
    const { partnerId, requestsPerSecond } = request.access;
    if (requestsPerSecond === null) return done();
    const decide = (verdict: Verdict) => passOrRefuse(reply, requestsPerSecond, verdict, done);
    const verdict = rateLimiter.admit(partnerId, requestsPerSecond);
    if (verdict instanceof Promise) verdict.then(decide).catch(done);
    else decide(verdict);
  };
}

function passOrRefuse(reply: FastifyReply, limit: number, verdict: Verdict, done: () => void): void {
  // draft-ietf-httpapi-ratelimit-headers: quota and window, then what remains and the seconds until it is renewed.
  void reply.header('ratelimit-policy', `"partner";q=${limit};w=1`);
  void reply.header('ratelimit', `"partner";r=${verdict.remaining};t=1`);
  if (verdict.admitted) done();
  else reply.send(refuse(reply, '50', { message: `Too many requests: at most ${limit} a second` }));
}
