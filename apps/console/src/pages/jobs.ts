import type { Job } from '@floodgate/jobs/console';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import { bar, chip, Html, link, type Tone } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { awayHtml } from '../view/page.ts';
import { eventNames } from './names.ts';
import type { Words } from '../words/index.ts';

const MOST = 100;

const TONES: Record<Job['state'], Tone> = { running: 'info', paused: 'warn', done: 'ok', aborted: 'quiet' };

/** Returns the state of a job. */
export const jobChip = ({ state }: Pick<Job, 'state'>, { jobs }: Words) =>
  chip(TONES[state], jobs.states[state]);

export const jobPath = ({ id }: Pick<Job, 'id'>) => `/jobs/${id}`;

/** Shows the jobs, newest first. */
export const showJobs: Show = async (page) => {
  const { words, format, read, operations } = page;
  const { jobs: texts } = words;
  const { jobs, away } = (await read(operations.jobList, { limit: MOST }))!;
  const events = await eventNames(
    page,
    jobs.map(({ eventId }) => eventId),
  );
  return {
    title: texts.title,
    about: texts.about,
    parts: [
      awayHtml(away, words),
      listing({
        caption: texts.title,
        things: jobs,
        empty: texts.none,
        format,
        columns: [
          { head: texts.kind, cell: (job) => link(jobPath(job), texts.kinds[job.kind] ?? job.kind) },
          { head: texts.event, cell: ({ eventId }) => link(`/events/${eventId}`, events.get(eventId)!.name) },
          { head: texts.state, cell: (job) => jobChip(job, words) },
          { head: texts.progress, cell: (job) => progressHtml(job, page) },
          { head: texts.started, cell: ({ createdAt }) => format.ago(createdAt) },
          { head: texts.by, cell: ({ createdBy }) => createdBy },
        ],
      }),
    ],
    help: 'operate/jobs',
  };
};

function progressHtml({ done, failed, total }: Job, { words, format }: PageRequest) {
  const text = words.jobs.of(format.number(done), format.number(total));
  const failures = failed > 0 ? html`<br />${words.jobs.failed(format.number(failed))}` : '';
  return new Html(html`!${bar(done + failed, total).text}<br />${text}!${failures}`);
}
