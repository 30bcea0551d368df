import type { Metrics } from '@floodgate/metrics';
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

/** In seconds. An answer takes 3 s at most by default. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

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

/** Counts requests by route and code, and their times by route. */
export function countRequests(metrics: Metrics): (answered: Answered) => void {
  const routes = new Map<string, { codes: Map<string, number>; times: Uint32Array; sumSeconds: number }>();
  metrics.counted('requests', 'Answered requests, by response code', 'counter', () =>
    [...routes].flatMap(([route, { codes }]) =>
      Array.from(codes, ([code, value]) => ({ labels: { route, code }, value })),
    ),
  );
  const help = 'Time from the head of a request to its answer';
  metrics.counted('request_seconds', help, 'histogram', (name) =>
    [...routes].flatMap(([route, { times, sumSeconds }]) => {
      let value = 0;
      const buckets = Array.from(times, (count, index) => {
        const le = BUCKETS[index] ?? '+Inf';
        return { metricName: `${name}_bucket`, labels: { le, route }, value: (value += count) };
      });
      const sum = { metricName: `${name}_sum`, labels: { route }, value: sumSeconds };
      return [...buckets, sum, { metricName: `${name}_count`, labels: { route }, value }];
    }),
  );
  const create = () => ({
    codes: new Map<string, number>(),
    times: new Uint32Array(BUCKETS.length + 1),
    sumSeconds: 0,
  });
  return ({ route, code, ms }) => {
    const counted = routes.getOrInsertComputed(route, create);
    const seconds = ms / 1_000;
    counted.codes.set(code, (counted.codes.get(code) ?? 0) + 1);
    const bucket = BUCKETS.findIndex((most) => seconds <= most);
    counted.times[bucket === -1 ? BUCKETS.length : bucket]! += 1;
    counted.sumSeconds += seconds;
  };
}

/** Writes one line per request. */
export const logRequests =
  (log: Logger) =>
  ({ ms, arrivedAt: _arrivedAt, ...request }: Answered) =>
    log.info({ ...request, ms: Math.round(ms * 10) / 10 }, 'answered');

/** Records the span of a request: in the trace of its batch, if it has one. */
export const traceRequest = ({ requestId, method, route, code, batchId, arrivedAt }: Answered): void =>
  recordSpan({ name: `${method} ${route}`, batchId, startedAt: arrivedAt, attributes: { requestId, code } });
