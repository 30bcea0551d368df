import { Metrics, type Figure } from '@floodgate/metrics';
import type { Progress, QueueProgress } from './health.ts';

/** Returns the metrics of a worker. Each scrape reads the evidence for its health. Figures of a server that does not answer are missing. */
export function createMetrics(read: () => Promise<Progress>): Metrics {
  const metrics = new Metrics('worker');
  const ofQueues = (
    help: string,
    labels: readonly string[],
    samplesOf: (progress: QueueProgress) => [object, number][],
  ): Figure<Progress> => ({
    help,
    labels: ['queue', ...labels],
    samples: ({ queues }) =>
      Object.entries(queues).flatMap(([queue, progress]) =>
        samplesOf(progress).map(([labelled, value]): [Record<string, string>, number] => [
          { queue, ...labelled },
          value,
        ]),
      ),
  });
  metrics.figures(read, {
    pending_batches: ofQueues('Batches in Postgres that are not finalized yet', [], ({ backlog }) =>
      backlog ? [[{}, backlog.pendingBatches]] : [],
    ),
    failed_batches: ofQueues(
      'Batches whose finalization failed; an operator can redrive them',
      [],
      ({ backlog }) => (backlog ? [[{}, backlog.failedBatches]] : []),
    ),
    oldest_pending_seconds: ofQueues('Age of the oldest pending batch; 0: none', [], ({ backlog }) =>
      backlog ? [[{}, (backlog.oldestPendingMs ?? 0) / 1_000]] : [],
    ),
    jobs: ofQueues('Jobs in the queue, of all workers', ['state'], ({ jobs }) =>
      Object.entries(jobs ?? {}).map(([state, count]) => [{ state }, count]),
    ),
  });
  return metrics;
}
