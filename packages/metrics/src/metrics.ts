import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { shareCalls } from '@floodgate/service';

/** A gauge whose samples are read at each scrape. */
export interface Figure<Facts> {
  help: string;
  labels: readonly string[];
  samples(facts: Facts): [labels: Record<string, string | number>, value: number][];
}

/** `metricName`: the name of the series, if it is not the metric's. */
interface Sample {
  metricName?: string;
  labels: Record<string, string | number>;
  value: number;
}

/**
 * The metrics of a process, in the OpenMetrics format. All names begin with `floodgate_` and the name of the
 * service.
 */
export class Metrics {
  readonly #registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE);
  readonly #prefix: string;

  /** Has the metrics of the process itself: CPU, memory, garbage collection and the event loop. */
  constructor(service: string) {
    this.#prefix = `floodgate_${service}_`;
    // The default of 10 ms wakes an idle process 100 times per second.
    const options = { prefix: this.#prefix, eventLoopMonitoringPrecision: 200 };
    collectDefaultMetrics({ register: this.#registry, ...options });
  }

  get contentType() {
    return this.#registry.contentType;
  }

  text() {
    return this.#registry.metrics();
  }

  /** Returns a counter. Its samples end with `_total`. */
  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) {
    return new Counter({ ...this.#named(name, help), labelNames });
  }

  /** Returns a histogram. Its buckets have these upper bounds and infinity. */
  histogram<Label extends string>(name: string, help: string, buckets: number[], labelNames: Label[] = []) {
    return new Histogram({ ...this.#named(name, help), buckets, labelNames });
  }

  /**
   * Adds a metric that the caller counts itself, for events of each request: the library's own counter and
   * histogram cost a tenth of a registration. `read` returns the samples of a scrape.
   */
  counted(name: string, help: string, type: 'counter' | 'histogram', read: (metric: string) => Sample[]) {
    const named = { name: this.#prefix + name, help, type };
    const metric = { ...named, get: () => Promise.resolve({ ...named, values: read(named.name) }) };
    // The registry reads only these fields, although its type names the library's classes.
    this.#registry.registerMetric(metric as unknown as Counter);
  }

  /** Adds gauges that share one read per scrape. If it fails, they have no samples. */
  figures<Facts>(read: () => Promise<Facts>, figures: Record<string, Figure<Facts>>) {
    const readOnce = shareCalls(read);
    for (const [name, { help, labels, samples }] of Object.entries(figures)) {
      const gauge: Gauge<string> = new Gauge({
        ...this.#named(name, help),
        labelNames: [...labels],
        collect: async () => {
          const found = await readOnce().then(samples, () => []);
          gauge.reset();
          // The library resets a gauge without labels to 0: a figure that was not read would look like none.
          if (labels.length === 0) gauge.remove();
          for (const [labelled, value] of found) gauge.set(labelled, value);
        },
      });
    }
  }

  /** Adds the connections of pools by name. `statesOf` returns their numbers by state. */
  pools<Pool>(pools: Iterable<[name: string, Pool]>, statesOf: (pool: Pool) => Record<string, number>) {
    this.figures(() => Promise.resolve(Array.from(pools)), {
      pool_connections: {
        help: 'Connections to Postgres, and calls that wait for one, by pool',
        labels: ['pool', 'state'],
        samples: (all) =>
          all.flatMap(([name, pool]) =>
            Object.entries(statesOf(pool)).map(([state, count]) => [{ pool: name, state }, count]),
          ),
      },
    });
  }

  #named(name: string, help: string) {
    return { name: this.#prefix + name, help, registers: [this.#registry] };
  }
}
