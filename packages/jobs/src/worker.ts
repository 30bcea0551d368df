import { defineWorker } from '@floodgate/queue';
import { finalizeEnqueuer, finalizeSettings } from '@floodgate/registrations';
import { createJobRuns } from './run/run-jobs.ts';

/** How soon a job starts. An idle worker looks up to eight times less often. */
const INTERVAL_MS = 250;

/** The worker's task for jobs. */
export const jobsWorker = defineWorker({
  settings: finalizeSettings,
  open({ db, log, producer, config, clock }) {
    const enqueue = finalizeEnqueuer(producer, config);
    // May fail: the relay finds the changes.
    const onBatch = (shardId: number) => void enqueue({ shardId, batchIds: [] }).catch(() => {});
    const run = createJobRuns({ db, log, onBatch, clock });
    return { jobs: [], tasks: [{ name: 'jobs', intervalMs: INTERVAL_MS, run }] };
  },
});
