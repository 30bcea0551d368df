import type { FastifyInstance } from 'fastify';
import { adder } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { showJob } from './job.ts';
import { showJobs } from './jobs.ts';

/** Adds the pages of jobs. */
export function addJobPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  add('/jobs', ['queue:read'], showJobs);
  add('/jobs/:jobId', ['queue:read'], showJob);
}
