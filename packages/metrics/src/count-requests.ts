import type { Metrics } from './metrics.ts';

/** In seconds. An answer takes 3 s at most by default. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Counts requests by route and code, and their times by route. */
export function countRequests(metrics: Metrics) {
  const create = () => ({
    codes: new Map<string, number>(),
    times: new Uint32Array(BUCKETS.length + 1),
    sumSeconds: 0,
  });
  const routes = new Map<string, ReturnType<typeof create>>();
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
  return ({ route, code, ms }: { route: string; code: string; ms: number }) => {
    const counted = routes.getOrInsertComputed(route, create);
    const seconds = ms / 1_000;
    counted.codes.set(code, (counted.codes.get(code) ?? 0) + 1);
    const bucket = BUCKETS.findIndex((most) => seconds <= most);
    counted.times[bucket === -1 ? BUCKETS.length : bucket]! += 1;
    counted.sumSeconds += seconds;
  };
}
