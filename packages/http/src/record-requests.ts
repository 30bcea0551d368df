import type { Metrics } from '@floodgate/metrics';
import type { Logger } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** By performance.now(). */
    arrivedAt: number;
  }
}

/** In seconds. An answer takes 3 s at most by default. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** A request that was answered. The route is its pattern, or "none": callers cannot invent labels, and no log line has their text. */
interface Answered {
  requestId: string;
  method: string;
  route: string;
  /** The response code of the envelope. */
  code: string;
  ms: number;
}

/**
 * Records each answered request, as metrics, in the access log, or both. Requests that Node's parser refuses are not recorded. The time counts from
 * the head of the request.
 */
export function recordRequests(app: FastifyInstance, ...records: ((answered: Answered) => void)[]): void {
  if (records.length === 0) return;
  app.decorateRequest('arrivedAt', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAt = performance.now();
    done();
  });
  // Not onResponse: listening for the end of every answer would cost more than the rest of Get Tickets.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { id: requestId, method, arrivedAt } = request;
    const route = request.routeOptions.url ?? 'none';
    const answered = {
      requestId,
      method,
      route,
      code: reply.failureCode ?? '00',
      ms: performance.now() - arrivedAt,
    };
    for (const record of records) record(answered);
    done();
  });
}

export function countRequests(metrics: Metrics): (answered: Answered) => void {
  const total = metrics.counter('requests', 'Answered requests, by response code', ['route', 'code']);
  const help = 'Time from the head of a request to its answer';
  const seconds = metrics.histogram('request_seconds', help, BUCKETS, ['route']);
  return ({ route, code, ms }) => {
    total.inc({ route, code });
    seconds.observe({ route }, ms / 1_000);
  };
}

/** Writes one line per request. */
export const logRequests =
  (log: Logger) =>
  ({ ms, ...request }: Answered) =>
    log.info({ ...request, ms: Math.round(ms * 10) / 10 }, 'answered');
