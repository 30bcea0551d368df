import { randomUUID } from 'node:crypto';
import type { Job } from '@floodgate/jobs/console';
import type { Static } from '@sinclair/typebox';
import type { PageRequest } from '../add-page.ts';
import { filledInput, type Operations } from '../operations.ts';
import { aboutCallOff, aboutCancelJob, aboutResendJob } from '../pages/job-preview.ts';
import { jobPath } from '../pages/jobs.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { eventName, jobOf } from './subjects.ts';

type Filter = Static<Operations['jobCancelPreview' | 'jobResendPreview']['input']>;

/** Returns the values of a form that starts a job: what the preview had, and an id, so that it starts once. */
const startOf = ({ count, upTo }: { count: number; upTo: number[] }, { jobId }: Texts): Texts => ({
  expect: String(count),
  upTo: upTo.join(','),
  jobId: jobId || randomUUID(),
});

const countOf = (_page: PageRequest, { expect }: Texts) => Promise.resolve(Number(expect ?? 0));

/** Returns a function that reads a preview once per request: its text, its number and its fields need it. */
function oncePerPage<Preview>(read: (page: PageRequest, given: Texts) => Promise<Preview>) {
  const previews = new WeakMap<PageRequest, Promise<Preview>>();
  return (page: PageRequest, given: Texts) => previews.getOrInsertComputed(page, () => read(page, given));
}

const cancelPreview = oncePerPage(({ read, operations: { jobCancelPreview } }, given) =>
  read(jobCancelPreview, filledInput(jobCancelPreview.input, given) as Filter),
);
const resendPreview = oncePerPage(({ read, operations: { jobResendPreview } }, given) =>
  read(jobResendPreview, filledInput(jobResendPreview.input, given) as Filter),
);
const callOffPreview = oncePerPage(({ read, operations }, { eventId = '' }) =>
  read(operations.eventCallOffPreview, { eventId }),
);

/** Returns the form that starts a job. It carries the numbers of its preview, and shows the preview. */
const startForm = <Preview extends { count: number; upTo: number[] }>(
  previewOf: (page: PageRequest, given: Texts) => Promise<Preview | undefined>,
  previewHtml: (page: PageRequest, preview: Preview, given: Texts) => Promise<string>,
  hasWork: (preview: Preview) => boolean = ({ count }) => count > 0,
) => ({
  // The filter comes from a preview, or from the page before.
  subject: ['eventId' as const],
  fields: [] as const,
  isDangerous: true,
  carries: async (page: PageRequest, given: Texts) => {
    const found = await previewOf(page, given);
    return found ? startOf(found, given) : {};
  },
  concerns: countOf,
  hasWork: async (page: PageRequest, given: Texts) => {
    const found = await previewOf(page, given);
    return found !== undefined && hasWork(found);
  },
  preview: async (page: PageRequest, given: Texts) => {
    const found = await previewOf(page, given);
    return found ? previewHtml(page, found, given) : '';
  },
  next: jobPath,
});

const ALL_FILTERS = [
  'eventId',
  'ticketId',
  'partnerId',
  'state',
  'soldFrom',
  'soldUntil',
  'name',
  'email',
  'phone',
  'partnerReference',
  'mail',
  'admitted',
  'failure',
] as const;

const aboutEvent = async (page: PageRequest, given: Texts) => [await eventName(page, given)];

/** Returns what says what a job does, how far it is, and what follows for the registrations that are left. */
const aboutJob =
  (follows: (about: PageRequest['words']['about'], left: string) => string) =>
  async (page: PageRequest, given: Texts) => {
    const job = await jobOf(page, given);
    if (!job) return [];
    const { format, words } = page;
    const treated = job.done + job.failed;
    const kind = words.values[`job.${job.kind}`] ?? job.kind;
    const event = await eventName(page, { eventId: String(job.eventId) });
    return [
      `${kind} · ${event}`,
      words.about.job(format.number(treated), format.number(job.total)),
      follows(words.about, format.number(Math.max(0, job.total - treated))),
    ];
  };

export const jobForms = {
  jobCancelPreview: { fields: ALL_FILTERS, about: aboutEvent, previews: 'jobCancel' },
  jobResendPreview: { fields: ALL_FILTERS, about: aboutEvent, previews: 'jobResend' },
  jobCancel: { ...startForm(cancelPreview, aboutCancelJob), chosenBy: 'jobCancelPreview' },
  jobResend: { ...startForm(resendPreview, aboutResendJob), chosenBy: 'jobResendPreview' },
  // The sale of an event without registrations can stop for good as well.
  eventCallOff: {
    ...startForm(callOffPreview, aboutCallOff, (found) => found.count > 0 || !found.calledOffAt),
    // A job with nothing to cancel has no progress to show: the event says that it is called off.
    next: (job: Job) => (job.total === 0 ? `/events/${job.eventId}` : jobPath(job)),
  },
  jobPause: { about: aboutJob((about) => about.jobPause) },
  jobResume: { about: aboutJob((about) => about.jobResume) },
  jobAbort: { isDangerous: true, about: aboutJob((about, left) => about.jobAbort(left)) },
} satisfies FormDefinitions;
