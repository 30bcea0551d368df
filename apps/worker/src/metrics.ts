import { Metrics, type Figure } from '@floodgate/metrics';
import type { QueueBacklog } from '@floodgate/queue';
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
  const ofBacklog = (help: string, value: (backlog: QueueBacklog) => number) =>
    ofQueues(help, [], ({ backlog }) => (backlog ? [[{}, value(backlog)]] : []));
  metrics.figures(read, {
    pending_batches: ofBacklog('Batches in Postgres that are not finalized yet', (of) => of.pendingBatches),
    failed_batches: ofBacklog('Batches whose finalization failed', (of) => of.failedBatches),
    oldest_pending_seconds: ofBacklog(
      'Age of the oldest pending batch; 0: none',
      (of) => (of.oldestPendingMs ?? 0) / 1_000,
    ),
    jobs: ofQueues('Jobs in the queue, of all workers', ['state'], ({ jobs }) =>
      Object.entries(jobs ?? {}).map(([state, count]) => [{ state }, count]),
    ),
  });
  return metrics;
}
