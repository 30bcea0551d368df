import type { Progress, QueueProgress } from './health.ts';

/** Returns what the worker's health rests on, for Prometheus. Figures of a server that does not answer are missing. */
export function metricsText({ queues }: Progress): string {
  /** `read` returns the figures of a queue by state. */
  const gauge = (name: string, help: string, read: (queue: QueueProgress) => object) => {
    const metric = `floodgate_worker_${name}`;
    const samples = Object.entries(queues).flatMap(([queue, progress]) =>
      Object.entries(read(progress)).map(([state, value]) => {
        const labels = `queue="${queue}"${state && `,state="${state}"`}`;
        return `${metric}{${labels}} ${value}\n`;
      }),
    );
    return samples.length > 0 ? [`# HELP ${metric} ${help}\n# TYPE ${metric} gauge\n`, ...samples] : [];
  };
  return [
    gauge('pending_batches', 'Batches that are not finalized yet, as Postgres knows them', ({ backlog }) => {
      return backlog ? { '': backlog.pendingBatches } : {};
    }),
    gauge('failed_batches', 'Batches that finalization gave up, until an operator redrives them', (queue) => {
      return queue.backlog ? { '': queue.backlog.failedBatches } : {};
    }),
    gauge('oldest_pending_seconds', 'Age of the oldest pending batch; 0: none', ({ backlog }) => {
      return backlog ? { '': (backlog.oldestPendingMs ?? 0) / 1_000 } : {};
    }),
    gauge('jobs', 'Jobs of all workers together, as the queue knows them', ({ jobs }) => jobs ?? {}),
  ]
    .flat()
    .join('');
}
