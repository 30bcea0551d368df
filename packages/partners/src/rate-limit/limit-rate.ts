import rateLimit, { type FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { refuse } from '@floodgate/http';

const WINDOW_S = 1;

type Count = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

/** Holds partners that have a limit to it, as authentication has found it, before a byte of the body is read. */
export async function limitRate(app: FastifyInstance, store: FastifyRateLimitStoreCtor): Promise<void> {
  await app.register(rateLimit, {
    // Not by its own hook, which knows neither the envelope nor the headers' newer draft.
    global: false,
    store,
    timeWindow: WINDOW_S * 1_000,
    keyGenerator: ({ access }) => access.partnerId,
    max: ({ access }) => access.requestsPerSecond ?? Infinity,
  });
  const count = app.createRateLimit();
  app.addHook('onRequest', function limitRequestRate(request, reply, done) {
    // Most partners have none, and are spared the promises.
    if (request.access.requestsPerSecond === null) done();
    else count(request).then((counted) => passOrRefuse(reply, counted, done), done);
  });
}

function passOrRefuse(reply: FastifyReply, counted: Count, done: () => void): void {
  // On the library's allow list, of which no use is made.
  if (counted.isAllowed) return done();
  const { max, remaining, ttlInSeconds, isExceeded } = counted;
  // draft-ietf-httpapi-ratelimit-headers: quota and window, then what remains and the seconds until it is renewed.
  void reply.header('ratelimit-policy', `"partner";q=${max};w=${WINDOW_S}`);
  void reply.header('ratelimit', `"partner";r=${remaining};t=${ttlInSeconds}`);
  if (isExceeded) reply.send(refuse(reply, '50', { message: `Too many requests: at most ${max} a second` }));
  else done();
}
