import { Metrics } from '@floodgate/metrics';
import { expect, test } from 'vitest';
import { reportProgress } from './metrics.ts';

const jobs = { waiting: 3, active: 1, delayed: 0, failed: 2 };
const backlog = { pendingBatches: 5, pendingChanges: 0, failedBatches: 4, oldestPendingMs: 1_500 };

/** Returns the samples of a worker whose queue has these figures. */
async function samplesOf(finalize: object): Promise<string[]> {
  const progress = {
    queue: 'up' as const,
    queueProblem: null,
    tasks: {},
    queues: { finalize: { idleMs: 0, jobs, ...finalize } },
  };
  const metrics = new Metrics('worker');
  reportProgress(metrics, () => Promise.resolve(progress));
  const text = await metrics.text();
  return text.split('\n').filter((line) => line.includes('queue='));
}

test('the figures of a queue are gauges', async () => {
  expect(await samplesOf({ backlog })).toEqual([
    'floodgate_worker_pending_batches{queue="finalize"} 5',
    'floodgate_worker_failed_batches{queue="finalize"} 4',
    'floodgate_worker_oldest_pending_seconds{queue="finalize"} 1.5',
    'floodgate_worker_jobs{queue="finalize",state="waiting"} 3',
    'floodgate_worker_jobs{queue="finalize",state="active"} 1',
    'floodgate_worker_jobs{queue="finalize",state="delayed"} 0',
    'floodgate_worker_jobs{queue="finalize",state="failed"} 2',
  ]);
});

test('without a pending batch the age is 0', async () => {
  expect(await samplesOf({ backlog: { ...backlog, oldestPendingMs: null } })).toContain(
    'floodgate_worker_oldest_pending_seconds{queue="finalize"} 0',
  );
});

test('figures of a server that does not answer are missing', async () => {
  expect(await samplesOf({ backlog: null, jobs: null })).toEqual([]);
});
