import type { Database } from '@floodgate/database';
import type { Logger, PeriodicTask } from '@floodgate/service';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import { handleJobs, type HandledJob, type JobDefinition, type JobHandlers } from './jobs.ts';
import type { Producer } from './producer.ts';

export interface WorkerContext<Config> {
  db: Database;
  log: Logger;
  producer: Producer;
  config: Config;
}

/** The backlog of a queue, as Postgres knows it. */
export interface QueueBacklog {
  pendingBatches: number;
  pendingChanges: number;
  failedBatches: number;
  /** Age of the oldest; null if nothing is pending. */
  oldestPendingMs: number | null;
}

interface Work {
  tasks: readonly PeriodicTask[];
  /** By queue, if Postgres knows its backlog better than the queue does. */
  backlogs?: Readonly<Record<string, () => Promise<QueueBacklog>>>;
}

/** A capability's interface to the worker. */
export interface WorkerCapability {
  jobs: readonly JobDefinition[];
  settings: TProperties;
  open(context: WorkerContext<object>): Work & { jobs: readonly HandledJob[] };
}

/** Defines a capability's part of the worker. Each of its jobs must have a handler, or it does not compile. */
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
      // The worker has read the settings of all capabilities.
      const { handlers, ...work } = face.open(context as WorkerContext<Static<TObject<Settings>>>);
      return { ...work, jobs: handleJobs(face.jobs, handlers) };
    },
  };
}
