import type { Database } from '@floodgate/database';
import type { Logger, PeriodicTask } from '@floodgate/service';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import type { HandledJob } from './jobs.ts';
import type { Producer } from './producer.ts';

export interface WorkerContext<Config> {
  db: Database;
  log: Logger;
  producer: Producer;
  config: Config;
}

/** The backlog of a queue, counted in Postgres. */
export interface QueueBacklog {
  pendingBatches: number;
  pendingChanges: number;
  failedBatches: number;
  /** Age of the oldest pending batch or change; null if nothing is pending. */
  oldestPendingMs: number | null;
}

export type Backlogs = Readonly<Record<string, () => Promise<QueueBacklog>>>;

/** A capability's interface to the worker. */
export interface WorkerCapability<Settings extends TProperties = TProperties> {
  settings: Settings;
  open(context: WorkerContext<Static<TObject<Settings>>>): {
    jobs: readonly HandledJob[];
    tasks: readonly PeriodicTask[];
    /** By queue, if Postgres knows its backlog better than the queue does. */
    backlogs?: Backlogs;
  };
}

/** Returns the interface as it is, with the types of its settings inferred. */
export const defineWorker = <Settings extends TProperties>(
  face: WorkerCapability<Settings>,
): WorkerCapability => face;
