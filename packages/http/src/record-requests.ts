import { recordSpan, type Logger } from '@floodgate/service';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** By performance.now(). */
    arrivedAt: number;
    /** The batch that has committed its registrations. */
    batchId: string | undefined;
  }
}

/** A request that was answered. The route is its pattern, or "none": callers cannot invent labels, and no log line has their text. */
interface Answered {
  requestId: string;
  method: string;
  route: string;
  /** The response code of the envelope. */
  code: string;
  batchId: string | undefined;
  ms: number;
  arrivedAt: number;
}

/**
 * Records each answered request, as metrics, in the access log, or both. Requests that Node's parser refuses are not recorded. The time counts from
 * the head of the request.
 */
export function recordRequests(app: FastifyInstance, ...records: ((answered: Answered) => void)[]): void {
  app.decorateRequest('batchId', undefined);
  if (records.length === 0) return;
  app.decorateRequest('arrivedAt', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAt = performance.now();
    done();
  });
  // Not onResponse: listening for the end of every answer would cost more than the rest of Get Tickets.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { id: requestId, method, arrivedAt, batchId } = request;
    const route = request.routeOptions.url ?? 'none';
    const answered = {
      requestId,
      method,
      route,
      code: reply.failureCode ?? '00',
      batchId,
      ms: performance.now() - arrivedAt,
      arrivedAt,
    };
    for (const record of records) record(answered);
    done();
  });
}

/** Writes one line per request. */
export const logRequests =
  (log: Logger) =>
  ({ ms, arrivedAt: _arrivedAt, ...request }: Answered) =>
    log.info({ ...request, ms: Math.round(ms * 10) / 10 }, 'answered');

/** Records the span of a request: in the trace of its batch, if it has one. */
export const traceRequest = ({ requestId, method, route, code, batchId, arrivedAt }: Answered): void =>
  recordSpan({ name: `${method} ${route}`, batchId, startedAt: arrivedAt, attributes: { requestId, code } });
