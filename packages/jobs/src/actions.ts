import { defineAction } from '@floodgate/audit';
import { UUID_PATTERN } from '@floodgate/contract';
import type { JobState } from '@floodgate/database';
import { Type } from '@sinclair/typebox';
import { changeState, findJob } from './jobs.ts';

export const JobId = Type.String({ pattern: UUID_PATTERN, description: 'the UUID of a job' });

const defineChange = (name: string, from: readonly JobState[], to: JobState) =>
  defineAction({
    name,
    input: Type.Object({ jobId: JobId }),
    run: async (db, { jobId }, note) => {
      const job = await findJob(db, jobId);
      if (job.state !== to) {
        await changeState(db, job, from, to);
        const { done, failed, total } = job;
        note(`job:${jobId}`, { before: { state: job.state }, after: { state: to, done, failed, total } });
      }
      return { ...job, state: to };
    },
  });

/** Stops a job after its current batch, until it is resumed. */
export const pauseJobAction = defineChange('job.pause', ['running'], 'paused');
/** Continues a paused job where it stopped. */
export const resumeJobAction = defineChange('job.resume', ['paused'], 'running');
/** Ends a job after its current batch. Nothing is undone. */
export const abortJobAction = defineChange('job.abort', ['running', 'paused'], 'aborted');
