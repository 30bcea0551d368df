import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Cli } from '@floodgate/command';
import { createProgressBar, record } from '@floodgate/command';
import type { Database } from '@floodgate/database';
import { findJob, listFailures, type Job } from './jobs.ts';

const LOOK_INTERVAL_MS = 500;
const FAILURES_AT_ONCE = 1_000;

/** Returns the fields of a job for text output. */
export const jobText = (job: Job) =>
  record({
    job: job.id,
    kind: job.kind,
    event: job.eventId,
    state: job.state,
    done: job.done,
    failed: job.failed,
    total: job.total,
    'came since the preview': job.cameSince,
    filter: JSON.stringify(job.filter),
    'started by': job.createdBy,
    started: job.startedAt,
    ended: job.endedAt,
    problem: job.problem,
  });

/** Returns the answer of a command about a job. Items that could not be done are a failure of the command. */
export const jobAnswer = (job: Job, note = '', isWatched = false): Answer => ({
  document: job,
  isLine: isWatched,
  text: note + jobText(job),
  ...(job.failed > 0 && { failure: `${job.failed} could not be done; see floodgate job failures ${job.id}` }),
});

/** Shows the progress of a job. */
type Report = (job: Job, isOver: boolean) => Promise<void>;

/** Shows a progress bar on a terminal, and nothing elsewhere. */
function createBar(cli: Cli): Report {
  const bar = createProgressBar(cli);
  return async ({ done, failed, total, state }, isOver) => {
    bar.show(done + failed, total, state);
    if (isOver) bar.end();
  };
}

/** Writes a line of JSON for each step, and for each item that could not be done. */
function createLines(db: Database, { stdout }: Cli): Report {
  let shown = '';
  let after = 0;
  return async (job) => {
    const { state, done, failed, total } = job;
    const line = JSON.stringify({ state, done, failed, total });
    if (line === shown) return;
    shown = line;
    for (let more = true; more;) {
      const page = await listFailures(db, job, after, FAILURES_AT_ONCE);
      for (const { item, reason } of page.failures) stdout.write(`${JSON.stringify({ item, reason })}\n`);
      ({ cursor: after, more } = page);
    }
    stdout.write(`${line}\n`);
  };
}

/** Waits until a job ends or is paused, and shows the progress meanwhile. Returns the job. */
export async function watchJob(db: Database, id: string, cli: Cli, isJson: boolean) {
  const report = isJson ? createLines(db, cli) : createBar(cli);
  for (;;) {
    const job = await findJob(db, id);
    const isOver = job.endedAt !== null || job.state === 'paused';
    await report(job, isOver);
    if (isOver) return job;
    await delay(LOOK_INTERVAL_MS);
  }
}
