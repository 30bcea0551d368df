import type { JobDefinition, PayloadOf } from './define-job.ts';

/** What became of an attempt that did not fail. */
export type JobResult =
  | 'done'
  | { readonly kind: 'snooze'; readonly delayMs: number }
  | { readonly kind: 'give-up'; readonly reason: string };

/** The job runs again after `delayMs`. That costs it no attempt. */
export const snooze = (delayMs: number): JobResult => ({ kind: 'snooze', delayMs });

/** The job is not attempted again, and kept as failed. */
export const giveUp = (reason: string): JobResult => ({ kind: 'give-up', reason });

/** What a handler may know about the attempt it is in. */
export interface JobContext {
  /** Whether the queue gives the job up if this attempt fails. */
  isLastAttempt: boolean;
  /** Aborted when the attempt has taken too long. It has failed then, whatever the handler still does. */
  signal: AbortSignal;
}

/** Runs one attempt. One that rejects has failed, and is made again later. At least once: handlers are idempotent. */
export type JobHandler<Definition extends JobDefinition> = (
  payload: PayloadOf<Definition>,
  context: JobContext,
) => Promise<JobResult>;

/** One handler per kind of job: a missing one does not compile. */
export type JobHandlers<Jobs extends readonly JobDefinition[]> = {
  readonly [Definition in Jobs[number] as Definition['name']]: JobHandler<Definition>;
};

/** A kind of job with its handler, whatever its payload. */
export interface HandledJob extends JobDefinition {
  readonly handle: (payload: never, context: JobContext) => Promise<JobResult>;
}

/** Returns the jobs with their handlers. */
export function handleJobs<const Jobs extends readonly JobDefinition[]>(
  jobs: Jobs,
  handlers: JobHandlers<Jobs>,
): HandledJob[] {
  const byName: Record<string, HandledJob['handle']> = handlers;
  return jobs.map((definition) => ({ ...definition, handle: byName[definition.name]! }));
}
