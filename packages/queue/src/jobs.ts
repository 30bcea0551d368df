import type { Database } from '@floodgate/database';
import type { Metrics } from '@floodgate/metrics';
import type { Clock, Logger, PeriodicTask } from '@floodgate/service';
import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Producer } from './producer.ts';

/** A kind of job, with its own queue. */
export interface JobDefinition<Payload = unknown> {
  name: string;
  /** a–z, 0–9 and _. Each queue scales independently. */
  queue: string;
  /** The consumer rejects other payloads. A payload is small: a job notifies, and the data is in Postgres. */
  isPayload: (payload: unknown) => payload is Payload;
  /** Limit of one attempt. */
  timeoutMs: number;
  attempts: number;
  /** Delay before the second attempt. It doubles with each further attempt. Up to half of it is random. */
  backoffMs: number;
  /** Number of jobs that one worker runs at the same time. */
  concurrency: number;
}

/**
 * The outcome of an attempt that did not fail. A snoozed job runs again after the delay, without using up an
 * attempt.
 */
export type JobResult = 'done' | { snoozeMs: number };

export interface JobContext {
  isLastAttempt: boolean;
  /**
   * Aborted when the attempt takes too long. The attempt has failed then, even if the handler still resolves.
   */
  signal: AbortSignal;
}

/**
 * Runs one attempt. An attempt that rejects has failed and is retried later. A job can run twice, so handlers
 * must be idempotent.
 */
export type JobHandler<Payload> = (payload: Payload, context: JobContext) => Promise<JobResult>;

export type HandledJob = JobDefinition & { handle: JobHandler<never> };

/** Defines a kind of job by the schema of its payload. The capability that handles it owns the definition. */
export function defineJob<Payload extends TSchema>({
  payload,
  ...definition
}: Omit<JobDefinition, 'isPayload'> & { payload: Payload }): JobDefinition<Static<Payload>> {
  const check = TypeCompiler.Compile(payload);
  return { ...definition, isPayload: (value): value is Static<Payload> => check.Check(value) };
}

/** Returns a kind of job with its handler. */
export const handled = <Payload>(
  definition: JobDefinition<Payload>,
  handle: JobHandler<Payload>,
): HandledJob => ({ ...definition, handle });

export interface WorkerContext<Config> {
  db: Database;
  log: Logger;
  metrics: Metrics;
  producer: Producer;
  config: Config;
  clock?: Clock | undefined;
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
  settings?: Settings;
  open(context: WorkerContext<Static<TObject<Settings>>>): {
    jobs: readonly HandledJob[];
    tasks: readonly PeriodicTask[];
    /** By queue, if Postgres knows its backlog better than the queue does. */
    backlogs?: Backlogs;
  };
}

/** Returns the interface as it is, with the types of its settings inferred. */
export const defineWorker = <Settings extends TProperties>(face: WorkerCapability<Settings>) => face;
