import type { Database } from '@floodgate/database';
import type { Logger, Round } from '@floodgate/service';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import { handleJobs, type HandledJob, type JobDefinition, type JobHandlers } from './jobs.ts';
import type { Producer } from './producer.ts';

/** What a capability is opened with. */
export interface WorkerContext<Config> {
  db: Database;
  log: Logger;
  producer: Producer;
  config: Config;
}

/** What waits for the jobs of a queue, as Postgres knows it. */
export interface QueueBacklog {
  pendingBatches: number;
  failedBatches: number;
  /** For how long the oldest has been waiting; null where nothing is. */
  oldestPendingMs: number | null;
}

interface Work {
  rounds: readonly Round[];
  /** By queue, where Postgres knows more of what waits than the queue does. */
  backlogs?: Readonly<Record<string, () => Promise<QueueBacklog>>>;
}

/** A capability's face towards the worker. */
export interface WorkerCapability {
  jobs: readonly JobDefinition[];
  settings: TProperties;
  open(context: WorkerContext<object>): Work & { jobs: readonly HandledJob[] };
}

/** Describes what a capability does in the worker. Each of its jobs must have a handler. */
export function defineWorker<
  const Jobs extends readonly JobDefinition[],
  Settings extends TProperties,
>(face: {
  jobs: Jobs;
  settings: Settings;
  open(context: WorkerContext<Static<TObject<Settings>>>): Work & { handlers: JobHandlers<Jobs> };
}): WorkerCapability {
  return {
    ...face,
    open: (context) => {
      // The worker has read them all by `settings`.
      const { handlers, ...work } = face.open(context as WorkerContext<Static<TObject<Settings>>>);
      return { ...work, jobs: handleJobs(face.jobs, handlers) };
    },
  };
}
