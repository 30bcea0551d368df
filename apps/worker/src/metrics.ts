import type { Progress, QueueProgress } from './health.ts';

const GAUGES: readonly {
  name: string;
  help: string;
  values: (queue: QueueProgress) => Record<string, number>;
}[] = [
  {
    name: 'pending_batches',
    help: 'Batches that are not finalized yet, as Postgres knows them',
    values: ({ backlog }) => (backlog ? { '': backlog.pendingBatches } : {}),
  },
  {
    name: 'failed_batches',
    help: 'Batches that finalization gave up, until an operator redrives them',
    values: ({ backlog }) => (backlog ? { '': backlog.failedBatches } : {}),
  },
  {
    name: 'oldest_pending_seconds',
    help: 'Age of the oldest pending batch; 0: none',
    values: ({ backlog }) => (backlog ? { '': (backlog.oldestPendingMs ?? 0) / 1_000 } : {}),
  },
  {
    name: 'jobs',
    help: 'Jobs of all workers together, as the queue knows them',
    values: ({ jobs }) => ({ ...jobs }),
  },
];

/** Returns what the worker's health rests on, for Prometheus. Figures of a server that does not answer are missing. */
export function metricsText({ queues }: Progress): string {
  const lines = GAUGES.flatMap(({ name, help, values }) => {
    const metric = `floodgate_worker_${name}`;
    const samples = Object.entries(queues).flatMap(([queue, progress]) =>
      Object.entries(values(progress)).map(([state, value]) => {
        const labels = `queue="${queue}"${state && `,state="${state}"`}`;
        return `${metric}{${labels}} ${value}`;
      }),
    );
    return samples.length > 0 ? [`# HELP ${metric} ${help}`, `# TYPE ${metric} gauge`, ...samples] : [];
  });
  return lines.map((line) => `${line}\n`).join('');
}
