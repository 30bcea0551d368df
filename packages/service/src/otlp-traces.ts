import { ROOT_CONTEXT, trace, TraceFlags, type SpanContext } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import { throttledWarn, type Logger } from './log.ts';
import type { Recorder } from './traces.ts';

const SEND_WITHIN_MS = 5_000;
/** Spans that wait to be sent. Further ones are dropped. */
const WAITING_LIMIT = 10_000;

/**
 * Sends spans over OTLP. The id of a batch is the id of its trace, and half of it is the id of the first
 * span. So every process knows the trace of a batch, and whether it is sampled, without a word from another.
 * `share` of the batches, from 0 to 1, are sampled.
 */
export function openTraces(service: string, url: string, share: number, log: Logger) {
  /** The ids of the next span. Undefined: random. */
  let next: SpanContext | undefined;
  const random = new RandomIdGenerator();
  const otlp = new OTLPTraceExporter({ url, timeoutMillis: SEND_WITHIN_MS });
  const warn = throttledWarn('the receiver of traces does not accept them; they are dropped');
  const send = otlp.export.bind(otlp);
  // The library logs failures nowhere.
  otlp.export = (spans, done) =>
    send(spans, (result) => {
      if (result.error) warn(log, { receiver: new URL(url).host });
      done(result);
    });
  const processor = new BatchSpanProcessor(otlp, {
    maxQueueSize: WAITING_LIMIT,
    exportTimeoutMillis: SEND_WITHIN_MS,
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    idGenerator: {
      generateTraceId: () => next?.traceId ?? random.generateTraceId(),
      generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('floodgate');

  const record: Recorder = ({ name, batchId, startedAt, attributes }, isRoot) => {
    const traceId = batchId?.replaceAll('-', '');
    if (traceId === undefined ? Math.random() >= share : shareOf(traceId) >= share) return;
    const startTime = performance.timeOrigin + startedAt;
    let context = ROOT_CONTEXT;
    if (traceId) {
      const first = { traceId, spanId: traceId.slice(16), traceFlags: TraceFlags.SAMPLED, isRemote: true };
      if (isRoot) next = first;
      else context = trace.setSpanContext(ROOT_CONTEXT, first);
    }
    const span = tracer.startSpan(name, { startTime, attributes }, context);
    span.end(performance.timeOrigin + performance.now());
    next = undefined;
  };
  return { record, close: () => provider.shutdown().catch(() => {}) };
}

/** The last digits of a batch's id are random. */
const shareOf = (traceId: string) => Number.parseInt(traceId.slice(-8), 16) / 2 ** 32;
