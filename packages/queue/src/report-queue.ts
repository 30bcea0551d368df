import type { Metrics } from '@floodgate/metrics';
import type { QueueBackend } from './backend.ts';

/** Adds to the metrics of a process whether it reaches the queue. */
export const reportQueue = (metrics: Metrics, queue: Pick<QueueBackend, 'problem'>) =>
  metrics.figures(() => Promise.resolve(queue.problem()), {
    queue_down: {
      help: 'Whether this process does not reach the queue: 1, otherwise 0',
      labels: [],
      samples: (problem) => [[{}, problem === null ? 0 : 1]],
    },
  });
