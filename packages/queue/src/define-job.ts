import { randomUUID } from 'node:crypto';
import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/** How a kind of job is run. All but the timeout are defaults of its queue's settings: see settings.ts. */
export interface JobOptions {
  /** Attempts before a job is given up. */
  readonly attempts: number;
  /** Wait before the second attempt; doubles with each further one, up to half of it at random. */
  readonly backoffMs: number;
  /** How long one attempt may take. */
  readonly timeoutMs: number;
  /** Jobs of its queue that one worker runs at once. */
  readonly concurrency: number;
}

/** A kind of job: what its producer and its consumer agree on. */
export interface JobDefinition<
  Name extends string = string,
  Queue extends string = string,
  Payload extends TSchema = TSchema,
> extends JobOptions {
  readonly name: Name;
  /** Where its jobs wait. Each queue is scaled on its own. */
  readonly queue: Queue;
  /** Checked on both sides. Small: a job notifies, the data is in Postgres. */
  readonly payload: Payload;
  /** Returns whether this is what jobs of the kind carry. */
  readonly isPayload: (payload: unknown) => payload is Static<Payload>;
}

export type PayloadOf<Definition extends JobDefinition> = Static<Definition['payload']>;

/** A job to be enqueued. While a job with the same id exists, kept as failed or not, adding it again does nothing. */
export interface NewJob<Definition extends JobDefinition = JobDefinition> {
  readonly definition: Definition;
  /** No ":" and not all digits. */
  readonly id: string;
  readonly payload: PayloadOf<Definition>;
}

// It is part of a table's or key's name at the server, and of the names of settings.
const QUEUE_NAME = /^[a-z][a-z0-9_]*$/;

/** Defines a kind of job. The capability that handles it owns the definition. */
export function defineJob<const Name extends string, const Queue extends string, Payload extends TSchema>(
  definition: JobOptions & { name: Name; queue: Queue; payload: Payload },
): JobDefinition<Name, Queue, Payload> {
  if (!QUEUE_NAME.test(definition.queue)) throw new Error(`not a name for a queue: ${definition.queue}`);
  const check = TypeCompiler.Compile(definition.payload);
  return { ...definition, isPayload: (payload): payload is Static<Payload> => check.Check(payload) };
}

/**
 * Returns a job with a new id: one that was taken for lost and has arrived, or failed and is kept, never swallows the
 * next.
 */
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
