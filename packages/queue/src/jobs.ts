import { randomUUID } from 'node:crypto';
import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/** A kind of job. `attempts`, `backoffMs` and `concurrency` are defaults of its queue's settings. */
export interface JobDefinition {
  readonly name: string;
  /** Each queue is scaled on its own. */
  readonly queue: string;
  /** Checked by producer and consumer. Small: a job notifies, the data is in Postgres. */
  readonly payload: TSchema;
  readonly isPayload: (payload: unknown) => boolean;
  /** Limit of one attempt. */
  readonly timeoutMs: number;
  readonly attempts: number;
  /** Delay before the second attempt; doubles with each further one, up to half of it at random. */
  readonly backoffMs: number;
  /** Jobs of its queue that one worker runs at once. */
  readonly concurrency: number;
}

type PayloadOf<Definition extends JobDefinition> = Static<Definition['payload']>;

/** A job to be enqueued. Adding an id that exists already, failed jobs included, does nothing. */
export interface NewJob<Definition extends JobDefinition = JobDefinition> {
  readonly definition: Definition;
  /** No ":" and not all digits. */
  readonly id: string;
  readonly payload: PayloadOf<Definition>;
}

/** The outcome of an attempt that did not fail. A snoozed job runs again after the delay, without using up an attempt. */
export type JobResult = 'done' | { readonly snoozeMs: number };

export interface JobContext {
  isLastAttempt: boolean;
  /** Aborted when the attempt has taken too long. The attempt has failed then, even if the handler still resolves. */
  signal: AbortSignal;
}

/** Runs one attempt. An attempt that rejects has failed and is repeated later. At least once: handlers are idempotent. */
export type JobHandler<Definition extends JobDefinition> = (
  payload: PayloadOf<Definition>,
  context: JobContext,
) => Promise<JobResult>;

/** One handler per kind of job: a missing one does not compile. */
export type JobHandlers<Jobs extends readonly JobDefinition[]> = {
  readonly [Definition in Jobs[number] as Definition['name']]: JobHandler<Definition>;
};

export interface HandledJob extends JobDefinition {
  readonly handle: (payload: never, context: JobContext) => Promise<JobResult>;
}

// Part of the name of a table or key at the server, and of the names of settings.
const QUEUE_NAME = /^[a-z][a-z0-9_]*$/;

/** Defines a kind of job. The capability that handles it owns the definition. */
export function defineJob<const Name extends string, Payload extends TSchema>(
  definition: Omit<JobDefinition, 'isPayload'> & { name: Name; payload: Payload },
) {
  if (!QUEUE_NAME.test(definition.queue)) throw new Error(`not a name for a queue: ${definition.queue}`);
  const check = TypeCompiler.Compile(definition.payload);
  return { ...definition, isPayload: (payload: unknown) => check.Check(payload) };
}

/** Returns a job with a new id: the same id could still exist, and adding it would do nothing. */
export function job<Definition extends JobDefinition>(
  definition: Definition,
  payload: PayloadOf<Definition>,
): NewJob<Definition> {
  return { definition, id: randomUUID(), payload };
}

/** Returns the queues that the jobs are in, each once. */
export function queueNames(jobs: readonly JobDefinition[]): string[] {
  return [...new Set(jobs.map(({ queue }) => queue))];
}

/** Returns the jobs with their handlers. */
export function handleJobs<const Jobs extends readonly JobDefinition[]>(
  jobs: Jobs,
  handlers: JobHandlers<Jobs>,
): HandledJob[] {
  const byName: Record<string, HandledJob['handle']> = handlers;
  return jobs.map((definition) => ({ ...definition, handle: byName[definition.name]! }));
}
