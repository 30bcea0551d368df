import { randomUUID } from 'node:crypto';
import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/** A kind of job: what both sides agree on. `attempts`, `backoffMs` and `concurrency` are defaults of its queue's settings. */
export interface JobDefinition {
  readonly name: string;
  /** Where its jobs wait. Each queue is scaled on its own. */
  readonly queue: string;
  /** Checked on both sides. Small: a job notifies, the data is in Postgres. */
  readonly payload: TSchema;
  /** Returns whether this is what jobs of the kind carry. */
  readonly isPayload: (payload: unknown) => boolean;
  /** Returns a whole number. Jobs with the same lie together where a queue is spread over servers; without it, all do. */
  readonly partitionKey?: (payload: never) => number;
  /** How long one attempt may take. */
  readonly timeoutMs: number;
  /** Attempts before a job is given up. */
  readonly attempts: number;
  /** Wait before the second attempt; doubles with each further one, up to half of it at random. */
  readonly backoffMs: number;
  /** Jobs of its queue that one worker runs at once. */
  readonly concurrency: number;
}

type PayloadOf<Definition extends JobDefinition> = Static<Definition['payload']>;

/** A job to be enqueued. While a job with the same id exists, kept as failed or not, adding it again does nothing. */
export interface NewJob<Definition extends JobDefinition = JobDefinition> {
  readonly definition: Definition;
  /** No ":" and not all digits. */
  readonly id: string;
  readonly payload: PayloadOf<Definition>;
}

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

// It is part of a table's or key's name at the server, and of the names of settings.
const QUEUE_NAME = /^[a-z][a-z0-9_]*$/;

/** Defines a kind of job. The capability that handles it owns the definition. */
export function defineJob<const Name extends string, Payload extends TSchema>(
  definition: Omit<JobDefinition, 'isPayload' | 'partitionKey'> & {
    name: Name;
    payload: Payload;
    partitionKey?: (payload: Static<Payload>) => number;
  },
) {
  if (!QUEUE_NAME.test(definition.queue)) throw new Error(`not a name for a queue: ${definition.queue}`);
  const check = TypeCompiler.Compile(definition.payload);
  const isPayload = (payload: unknown): payload is Static<Payload> => check.Check(payload);
  return { ...definition, isPayload };
}

/** Returns a job with a new id: one that was taken for lost and has arrived, or failed and is kept, never swallows the next. */
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
