import { optionalText, whole } from './load-config.ts';
import type { Logger } from './log.ts';

/**
 * Settings of all processes. They must be alike, because each process chooses the traced batches by itself.
 */
export const traceSettings = {
  TRACES_URL: optionalText(
    'receiver of traces (OTLP over HTTP, such as http://collector:4318/v1/traces); without one, there are none',
    { pattern: '^https?://.+' },
  ),
  TRACES_PERCENT: whole('percent of the batches that are traced', [0, 100], 1),
};

/** One step on the way of a batch. It ends when it is recorded. */
export interface Span {
  name: string;
  /** The batch whose trace it belongs to. Undefined: it has a trace of its own. */
  batchId: string | undefined;
  /** By performance.now(). */
  startedAt: number;
  /** No attendee data. */
  attributes: Record<string, string | number | boolean>;
}

export type Recorder = (span: Span, isRoot: boolean) => void;

let recorder: Recorder | undefined;

/** Records a span that ends now. Without TRACES_URL it does nothing. */
export const recordSpan = (span: Span) => recorder?.(span, false);

/** Records the first span of a batch's trace: its commit. */
export const recordCommit = (span: Span) => recorder?.(span, true);

/** Whether spans are recorded. */
export const isTracing = () => recorder !== undefined;

/**
 * Sends spans from now on, if there is a TRACES_URL. The result sends the last ones and ends it. A receiver
 * that does not answer delays nothing: its spans are dropped.
 */
export async function startTraces(
  service: string,
  { TRACES_URL: url, TRACES_PERCENT: percent }: { TRACES_URL?: string; TRACES_PERCENT: number },
  log: Logger,
) {
  if (!url || percent === 0) return async () => {};
  const { openTraces } = await import('./otlp-traces.ts');
  const traces = openTraces(service, url, percent / 100, log);
  recorder = traces.record;
  return async () => {
    recorder = undefined;
    await traces.close();
  };
}
