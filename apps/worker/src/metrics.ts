import type { Figure, Metrics } from '@floodgate/metrics';
import type { QueueBacklog } from '@floodgate/queue';
import type { Progress } from './health.ts';

/**
 * Adds the progress of a worker to its metrics. Each scrape reads the evidence for its health. Figures of a
 * server that does not answer are missing.
 */
export const reportProgress = (metrics: Metrics, read: () => Promise<Progress>) =>
  metrics.figures(read, {
    pending_batches: ofBacklog('Batches in Postgres that are not finalized yet', (of) => of.pendingBatches),
    failed_batches: ofBacklog('Batches whose finalization failed', (of) => of.failedBatches),
    oldest_pending_seconds: ofBacklog(
      'Age of the oldest pending batch; 0: none',
      (of) => (of.oldestPendingMs ?? 0) / 1_000,
    ),
    jobs: {
      help: 'Jobs in the queue, of all workers',
      labels: ['queue', 'state'],
      samples: ({ queues }) =>
        Object.entries(queues).flatMap(([queue, { jobs }]) =>
          Object.entries(jobs ?? {}).map(([state, count]) => [{ queue, state }, count]),
        ),
    },
  });

const ofBacklog = (help: string, value: (backlog: QueueBacklog) => number): Figure<Progress> => ({
  help,
  labels: ['queue'],
  samples: ({ queues }) =>
    Object.entries(queues).flatMap(([queue, { backlog }]) => (backlog ? [[{ queue }, value(backlog)]] : [])),
});
