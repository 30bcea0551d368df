import { countRequests, type Metrics } from '@floodgate/metrics';
import { isTracing, recordSpan, type Logger } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** By performance.now(). */
    arrivedAt: number;
    /** The batch that has committed its registrations. */
    batchId: string | undefined;
  }
}

/**
 * Records each answered request: as metrics, in the access log, and as a span in the trace of its batch.
 * Undefined: nobody reads it. Requests that Node's parser refuses are not recorded. The time counts from the
 * head of the request.
 */
export function recordRequests(app: FastifyInstance, metrics?: Metrics, accessLog?: Logger) {
  app.decorateRequest('batchId', undefined);
  const count = metrics && countRequests(metrics);
  if (!count && !accessLog && !isTracing()) return;
  app.decorateRequest('arrivedAt', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAt = performance.now();
    done();
  });
  // Not onResponse: listening for the end of every answer would cost more than the rest of Get Tickets.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { id: requestId, method, arrivedAt: startedAt, batchId } = request;
    const ms = performance.now() - startedAt;
    // The pattern of the route: callers cannot invent labels, and no log line has their text.
    const route = request.routeOptions.url ?? 'none';
    const code = reply.failureCode ?? '00';
    count?.({ route, code, ms });
    accessLog?.info({ requestId, method, route, code, batchId, ms: Math.round(ms * 10) / 10 }, 'answered');
    if (isTracing())
      recordSpan({ name: `${method} ${route}`, batchId, startedAt, attributes: { requestId, code } });
    done();
  });
}
