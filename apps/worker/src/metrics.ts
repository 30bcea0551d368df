import type { Progress, QueueProgress } from './health.ts';

/** Returns the evidence for the worker's health as Prometheus metrics, without figures of a server that does not answer. */
export function metricsText({ queues }: Progress): string {
  /** `read` returns the figures of a queue by state. */
  type Read = (queue: QueueProgress) => object | null | undefined;
  const gauge = (name: string, help: string, read: Read) => {
    const metric = `floodgate_worker_${name}`;
    const samples = Object.entries(queues).flatMap(([queue, progress]) =>
      Object.entries(read(progress) ?? {}).map(([state, value]) => {
        const labels = `queue="${queue}"${state && `,state="${state}"`}`;
        return `${metric}{${labels}} ${value}\n`;
      }),
    );
    return samples.length > 0 ? [`# HELP ${metric} ${help}\n# TYPE ${metric} gauge\n`, ...samples] : [];
  };
  return [
    gauge(
      'pending_batches',
      'Batches in Postgres that are not finalized yet',
      ({ backlog }) => backlog && { '': backlog.pendingBatches },
    ),
    gauge(
      'failed_batches',
      'Batches whose finalization failed; an operator can redrive them',
      ({ backlog }) => backlog && { '': backlog.failedBatches },
    ),
    gauge(
      'oldest_pending_seconds',
      'Age of the oldest pending batch; 0: none',
      ({ backlog }) => backlog && { '': (backlog.oldestPendingMs ?? 0) / 1_000 },
    ),
    gauge('jobs', 'Jobs in the queue, of all workers', ({ jobs }) => jobs),
  ]
    .flat()
    .join('');
}
