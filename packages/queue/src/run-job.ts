import { withDeadline } from '@floodgate/service';
import { DelayedError, UnrecoverableError, type Job } from 'bullmq';
import type { HandledJob, JobResult } from './handle-job.ts';

/** Runs one attempt of a job by its handler. Resolves when it is done; rejects as BullMQ wants to be told of the rest. */
export async function runJob(jobs: readonly HandledJob[], job: Job, token?: string): Promise<void> {
  const handled = jobs.find(({ name }) => name === job.name);
  if (!handled?.isPayload(job.data)) throw new UnrecoverableError(`not a job of ours: ${job.name}`);
  const result = await attempt(handled, job);
  if (result === 'done') return;
  if (result.kind === 'give-up') throw new UnrecoverableError(result.reason);
  await job.moveToDelayed(Date.now() + result.delayMs, token);
  throw new DelayedError();
}

async function attempt({ timeoutMs, handle }: HandledJob, job: Job): Promise<JobResult> {
  const timeout = new AbortController();
  const isLastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  const context = { isLastAttempt, signal: timeout.signal };
  const result = await withDeadline(handle(job.data as never, context), timeoutMs, () => undefined);
  if (result !== undefined) return result;
  const error = new Error(`the attempt took longer than ${timeoutMs} ms`);
  timeout.abort(error);
  throw error;
}
