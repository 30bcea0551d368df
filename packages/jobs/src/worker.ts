import { inEachShard, rememberShards } from '@floodgate/database';
import { defineWorker } from '@floodgate/queue';
import { finalizeEnqueuer, finalizeSettings } from '@floodgate/registrations';
import { deleteOldJobs } from './run/old-jobs.ts';
import { createJobRuns } from './run/run-jobs.ts';

/** How soon a job starts. An idle worker looks up to eight times less often. */
const INTERVAL_MS = 250;
const OLD_JOBS_INTERVAL_MS = 600_000;

/** The worker's tasks for jobs. */
export const jobsWorker = defineWorker({
  settings: finalizeSettings,
  open({ db, log, producer, config, clock }) {
    const enqueue = finalizeEnqueuer(producer, config);
    // May fail: the relay finds the changes.
    const onBatch = (shardId: number) => void enqueue({ shardId, batchIds: [] }).catch(() => {});
    const run = createJobRuns({ db, log, onBatch, clock });
    const shards = rememberShards(db);
    const deleteOld = () => inEachShard(db, (shardId) => deleteOldJobs(db, shardId), shards);
    return {
      jobs: [],
      tasks: [
        { name: 'jobs', intervalMs: INTERVAL_MS, run },
        { name: 'old jobs', intervalMs: OLD_JOBS_INTERVAL_MS, run: deleteOld },
      ],
    };
  },
});
