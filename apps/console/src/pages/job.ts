import type { Job } from '@floodgate/jobs/console';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import { address, alertHtml, bar, card, figure, grid, Html, link, rows } from '../view/html.ts';
import { pager } from '../view/pager.ts';
import { filterWords } from './filter-words.ts';
import { callOffPart } from './job-call-off.ts';
import { failuresHtml, filterOfJob, HIDDEN, isOpen } from './job-failures.ts';
import { jobChip, jobPath } from './jobs.ts';
import { eventNames, partnerNames } from './names.ts';

const PER_PAGE = 50;
const REFRESH_MS = 2_000;

/** Shows a job: how far it is, what it could not do, and what can be done. */
export const showJob: Show = async (request) => {
  const { words, query, params, read, operations } = request;
  const { jobs } = words;
  const job = (await read(operations.jobShow, { jobId: params.jobId }))!;
  const { eventId } = job;
  const events = await eventNames(request, [eventId]);
  const { name, timeZone } = events.get(eventId)!;
  const format = request.format.inZone(timeZone);
  const page = { ...request, format };
  const failures =
    job.failed > 0
      ? await read(operations.jobFailures, { jobId: job.id, after: query['after'], limit: PER_PAGE })
      : undefined;
  const next = failures?.more ? address(jobPath(job), { after: failures.cursor }) : undefined;
  return {
    title: jobs.titles[job.kind]?.(name) ?? name,
    chips: jobChip(job, words),
    about: new Html(html`${jobs.startedBy(job.createdBy)}, !${format.time(job.createdAt)!.text}`),
    path: [link('/jobs', jobs.title), link(`/events/${eventId}`, name)],
    actions: actionsOf(job, page),
    parts: [
      progressPart(job, page),
      failures
        ? card(jobs.failures, failuresHtml(failures.failures, job, page) + pager(words, undefined, next))
        : '',
      job.kind === 'call-off'
        ? await callOffPart(job, page)
        : card(jobs.selection, await selectionHtml(job, page)),
    ],
    help: 'operate/jobs',
  };
};

function actionsOf(job: Job, { action, operations, words }: PageRequest) {
  // The event is called off already, so its own pages do not offer it again.
  if (job.kind === 'call-off' && job.state === 'aborted')
    return [action(operations.eventCallOff, { eventId: job.eventId }, words.jobs.rest, { kind: 'danger' })];
  if (!isOpen(job)) return [];
  const given = { jobId: job.id };
  return [
    job.state === 'running'
      ? action(operations.jobPause, given, words.jobs.pause)
      : action(operations.jobResume, given, words.jobs.resume, { kind: 'primary' }),
    action(operations.jobAbort, given, words.jobs.abort, { kind: 'danger' }),
  ];
}

/** Returns how far a job is. While it runs, a script replaces this part; without scripts, there is a link. */
function progressPart(job: Job, { words, format, url }: PageRequest) {
  const { jobs } = words;
  const { done, failed, total, cameSince, problem, kind } = job;
  const isRunning = job.state === 'running';
  const texts = [format.number(done), format.number(total)] as const;
  const lines = [timeText(job, words.jobs, format), isRunning ? jobs.goesOn : ''].filter(Boolean).join(' · ');
  return html`<div id="progress" !${isRunning ? html`data-refresh="${REFRESH_MS}"` : ''}>
    !${card(
      jobs.done[kind]?.(...texts) ?? jobs.of(...texts),
      html`!${bar(done + failed, total).text}
        <p class="soft">
          ${lines} !${isRunning ? html`<noscript><a href="${url}">${jobs.refresh}</a></noscript>` : ''}
        </p>
        !${cameSince > 0 ? html`<p>${jobs.cameSince(format.number(cameSince))}</p>` : ''}
        !${alertHtml(problem === null ? '' : jobs.problem(problem))}`,
    )}
    !${grid(
      figure(format.number(done), jobs.figures.done),
      figure(format.number(failed), jobs.figures.failed),
      figure(format.number(Math.max(0, total - done - failed)), jobs.figures.open),
    )}
  </div>`;
}

/** Returns how long a job will take, or took. */
function timeText(
  { startedAt, endedAt, state, done, failed, total }: Job,
  words: PageRequest['words']['jobs'],
  format: PageRequest['format'],
) {
  if (!startedAt) return '';
  if (endedAt) return words.took(format.duration(+endedAt - +startedAt));
  const treated = done + failed;
  if (state !== 'running' || treated === 0) return '';
  const leftMs = ((Date.now() - +startedAt) / treated) * (total - treated);
  return words.left(format.duration(leftMs));
}

/** Returns which registrations a job treats, in words. */
async function selectionHtml(job: Job, page: PageRequest) {
  const filter = filterOfJob(job);
  if (filter.length === 0) return html`<p>${page.words.jobs.everybody}</p>`;
  const [events, partners] = await Promise.all([
    eventNames(page, [job.eventId]),
    partnerNames(page, [job.eventId]),
  ]);
  const { tickets } = events.get(job.eventId)!;
  const shown = filter.map(([name, value]) => {
    const { label, text } = filterWords(name, value, page, { tickets, partners });
    const what = value === HIDDEN ? page.words.jobs.hidden : text;
    return new Html(html`<strong>${label}</strong>: ${what}`);
  });
  return rows(...shown);
}
