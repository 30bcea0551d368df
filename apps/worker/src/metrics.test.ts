import { expect, test } from 'vitest';
import { metricsText } from './metrics.ts';

const jobs = { waiting: 3, active: 1, delayed: 0, failed: 2 };
const backlog = { pendingBatches: 5, pendingChanges: 0, failedBatches: 4, oldestPendingMs: 1_500 };
const textOf = (finalize: object) =>
  metricsText({
    queue: 'up',
    queueProblem: null,
    tasks: {},
    queues: { finalize: { idleMs: 0, jobs, ...finalize } },
  });

test('the figures of a queue are gauges', () => {
  expect(textOf({ backlog })).toBe(`\
# HELP floodgate_worker_pending_batches Batches in Postgres that are not finalized yet
# TYPE floodgate_worker_pending_batches gauge
floodgate_worker_pending_batches{queue="finalize"} 5
# HELP floodgate_worker_failed_batches Batches whose finalization failed; an operator can redrive them
# TYPE floodgate_worker_failed_batches gauge
floodgate_worker_failed_batches{queue="finalize"} 4
# HELP floodgate_worker_oldest_pending_seconds Age of the oldest pending batch; 0: none
# TYPE floodgate_worker_oldest_pending_seconds gauge
floodgate_worker_oldest_pending_seconds{queue="finalize"} 1.5
# HELP floodgate_worker_jobs Jobs in the queue, of all workers
# TYPE floodgate_worker_jobs gauge
floodgate_worker_jobs{queue="finalize",state="waiting"} 3
floodgate_worker_jobs{queue="finalize",state="active"} 1
floodgate_worker_jobs{queue="finalize",state="delayed"} 0
floodgate_worker_jobs{queue="finalize",state="failed"} 2
`);
});

test('without a pending batch the age is 0', () => {
  expect(textOf({ backlog: { ...backlog, oldestPendingMs: null } })).toContain(
    'floodgate_worker_oldest_pending_seconds{queue="finalize"} 0\n',
  );
});

test('figures of a server that does not answer are missing', () => {
  expect(textOf({ backlog: null, jobs: null })).toBe('');
});
