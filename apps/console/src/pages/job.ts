import type { Job } from '@floodgate/jobs/console';
import { maskPassCodes } from '@floodgate/contract';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import { Refusal } from '../principals.ts';
import { actions, address, alertHtml, bar, card, figure, grid, Html, link, NOTHING, rows } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { pager } from '../view/pager.ts';
import { valueWords } from '../words/index.ts';
import { seatsHtml } from './job-preview.ts';
import { jobChip, jobPath, jobsOf } from './jobs.ts';
import { eventNames, partnerNames, personPath } from './names.ts';
import { paybackHtml, settlementRows } from './payback.ts';

const PER_PAGE = 50;
const REFRESH_MS = 2_000;

/** Shows a job: how far it is, what it could not do, and what can be done. */
export const showJob: Show = async (page) => {
  const { words, format, query, read, operations } = page;
  const { jobs } = words;
  const job = await jobOf(page);
  const { eventId } = job;
  const events = await eventNames(page, [eventId]);
  const { name } = events.get(eventId)!;
  const failures =
    job.failed > 0 ? await read(operations.jobFailures, { jobId: job.id, after: query['after'], limit: PER_PAGE }) : undefined;
  const next = failures?.more ? address(jobPath(job), { after: failures.cursor }) : undefined;
  return {
    title: jobs.titles[job.kind]?.(name) ?? name,
    chips: jobChip(job, words),
    about: new Html(html`${jobs.startedBy(job.createdBy)}, !${format.time(job.createdAt)!.text}`),
    path: [link('/jobs', jobs.title), link(`/events/${eventId}`, name)],
    actions: actionsOf(job, page),
    parts: [
      progressPart(job, page),
      failures ? card(jobs.failures, failuresHtml(failures.failures, job, page) + pager(words, undefined, next)) : '',
      job.kind === 'call-off' ? await callOffPart(job, page) : card(jobs.selection, await selectionHtml(job, page)),
    ],
    help: 'operate/console',
  };
};

/**
 * Resolves to the job of a page. An operator of named events may not read any job, but the jobs of its events:
 * there it is found.
 */
async function jobOf(page: PageRequest): Promise<Job> {
  const { read, operations, params } = page;
  const found = await read(operations.jobShow, { jobId: params.jobId });
  if (found) return found;
  const { jobs } = await jobsOf(page);
  const own = jobs.find(({ id }) => id === params.jobId);
  if (!own) throw new Refusal(404, 'Not found');
  return own;
}

const isOpen = ({ state }: Job) => state === 'running' || state === 'paused';

function actionsOf(job: Job, { action, operations, words }: PageRequest) {
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
        <p class="soft">${lines} !${isRunning ? html`<noscript><a href="${url}">${jobs.refresh}</a></noscript>` : ''}</p>
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

/** Returns what a job could not do, why, and a form that does it for one. */
function failuresHtml(
  failures: readonly { item: string; reason: string; at: Date }[],
  job: Job,
  page: PageRequest,
) {
  const { words, format, action, operations } = page;
  const { jobs } = words;
  const again = againLink(job, page);
  return html`!${listing({
    caption: jobs.failures,
    things: failures,
    empty: jobs.noFailures,
    format,
    columns: [
      { head: jobs.person, cell: ({ item }) => link(personPath(item), maskPassCodes(item)) },
      { head: jobs.why, cell: ({ reason }) => jobs.reasons[reason] ?? reason },
      { head: jobs.when, cell: ({ at }) => format.exactTime(at) },
      {
        head: '',
        cell: ({ item: passReference }) =>
          job.kind === 'resend'
            ? action(operations.mailResend, { passReference, kind: 'confirmation' }, jobs.sendOne)
            : action(operations.registrationCancel, { passReference }, jobs.cancelOne),
      },
    ],
  })}
  !${actions(again)}`;
}

const HIDDEN = '…';

/** Returns the fields of the filter of a job, as texts. */
function filterOf({ filter }: Job): [name: string, value: string][] {
  const fields = Object.entries((filter ?? {}) as Record<string, unknown>);
  return fields.flatMap(([name, value]) => (name === 'eventId' ? [] : [[name, String(value)] as [string, string]]));
}

/** Returns a link to the preview of the same work: of what was left. A filter about people is not kept. */
function againLink(job: Job, { action, operations, words }: PageRequest) {
  const filter = filterOf(job);
  if (isOpen(job) || filter.some(([, value]) => value === HIDDEN)) return NOTHING;
  const given = { eventId: job.eventId, ...Object.fromEntries(filter) };
  const { again } = words.jobs;
  if (job.kind === 'call-off') return action(operations.eventCallOff, { eventId: job.eventId }, again, { part: 'preview' });
  if (job.kind === 'cancel') return action(operations.jobCancel, given, again, { part: 'preview' });
  // What was sent must not be sent twice.
  return NOTHING;
}

/** Returns which registrations a job treats, in words. */
async function selectionHtml(job: Job, page: PageRequest) {
  const { jobs } = page.words;
  const filter = filterOf(job);
  if (filter.length === 0) return html`<p>${jobs.everybody}</p>`;
  const [events, partners] = await Promise.all([
    eventNames(page, [job.eventId]),
    partnerNames(page, [job.eventId]),
  ]);
  const { tickets } = events.get(job.eventId)!;
  const shown = filter.map(([name, value]) => {
    const { label, text } = selected(name, value, page, { tickets, partners });
    return new Html(html`<strong>${label}</strong>: ${value === HIDDEN ? jobs.hidden : text}`);
  });
  return rows(...shown);
}

function selected(
  name: string,
  value: string,
  { words, format }: PageRequest,
  names: { tickets: ReadonlyMap<number, string>; partners: ReadonlyMap<number, string> },
) {
  const { attendees, columns, states } = words.people;
  const stateNames: Partial<Record<string, string>> = states;
  const mailNames: Partial<Record<string, string>> = words.messages.states;
  const of: Record<string, readonly [label: string, text: string | undefined]> = {
    ticketId: [columns.ticket, names.tickets.get(Number(value))],
    partnerId: [columns.partner, names.partners.get(Number(value))],
    state: [columns.state, stateNames[value]],
    mail: [columns.mail, mailNames[value]],
    admitted: [columns.admitted, valueWords(words, value)],
    soldFrom: [attendees.soldFrom, timeOf(value, format)],
    soldUntil: [attendees.soldUntil, timeOf(value, format)],
    failure: [attendees.failure, value],
    name: [attendees.name, value],
    email: [attendees.email, value],
    phone: [attendees.phone, value],
    partnerReference: [attendees.partnerReference, value],
  };
  const [label, text] = of[name] ?? [name, value];
  return { label, text: text ?? value };
}

const timeOf = (value: string, format: PageRequest['format']) =>
  Number.isNaN(Date.parse(value)) ? value : format.timeText(new Date(value));

/** What calling off an event did at the start, before its registrations. */
interface CallOffResult {
  stoppedTickets?: number[];
  endedHolds?: number;
  endedEntries?: number;
  seats?: Parameters<typeof seatsHtml>[2];
}

/** Returns what was done at once, the seats by partner, and what is to pay back. */
async function callOffPart(job: Job, page: PageRequest) {
  const { words, format } = page;
  const { jobs } = words;
  const { stoppedTickets = [], endedHolds = 0, endedEntries = 0, seats = [] } = (job.result ?? {}) as CallOffResult;
  const settled = await settlementRows(page, job.eventId);
  const amounts = settled.map((row) => ({ ...row, amount: row.cancelledAmount }));
  const file = `/operator/v1/events/${job.eventId}/reports/settlement?format=csv`;
  const reports = link(`/events/${job.eventId}/reports`, jobs.settlement);
  const files = new Html(html`<a href="${file}" download>${jobs.settlementFile}</a>`);
  return html`!${grid(
      card(
        jobs.atOnce,
        rows(
          jobs.stopped(format.number(stoppedTickets.length)),
          jobs.endedHolds(format.number(endedHolds)),
          jobs.endedEntries(format.number(endedEntries)),
        ),
        6,
      ),
      settled.length > 0 ? card(jobs.toPayBack, paybackHtml(page, amounts) + actions(reports, files), 6) : '',
    )}
    !${await seatsHtml(page, job.eventId, seats)}`;
}
