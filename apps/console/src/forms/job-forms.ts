import { randomUUID } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import type { PageRequest } from '../add-page.ts';
import { filledInput, type Operations } from '../operations.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { eventName, jobOf } from './subjects.ts';

type FilterPreview = Operations['jobCancelPreview' | 'jobResendPreview'];
type Filter = Static<FilterPreview['input']>;

/** Returns the values of a form that starts a job: what the preview had, and an id, so that it starts once. */
const startOf = ({ count, upTo }: { count: number; upTo: number }, { jobId }: Texts): Texts => ({
  expect: String(count),
  upTo: String(upTo),
  jobId: jobId || randomUUID(),
});

const countOf = (_page: PageRequest, { expect }: Texts) => Promise.resolve(Number(expect ?? 0));

/** Returns the form that starts a job on what a filter selects. It carries the numbers of its preview. */
const startForm = (
  preview: (operations: Operations) => FilterPreview,
  follows: (page: PageRequest) => string,
) => ({
  // The filter comes from a preview, or from the page before.
  subject: ['eventId' as const],
  fields: [] as const,
  isDangerous: true,
  carries: async ({ read, operations }: PageRequest, given: Texts) => {
    const operation = preview(operations);
    const filter = filledInput(operation.input, given) as Filter;
    const found = await read(operation, filter);
    return found ? startOf(found, given) : {};
  },
  concerns: countOf,
  about: async (page: PageRequest, given: Texts) => {
    const count = page.format.number(Number(given['expect'] ?? 0));
    return [await eventName(page, given), page.words.about.matches(count), follows(page)];
  },
  next: ({ id }: { id: string }) => `/jobs/${id}`,
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

/** Resolves to what a job does, and how far it is. */
async function aboutJob(page: PageRequest, given: Texts) {
  const job = await jobOf(page, given);
  if (!job) return [];
  const { format, words } = page;
  const kind = words.values[`job.${job.kind}`] ?? job.kind;
  const event = await eventName(page, { eventId: String(job.eventId) });
  return [
    `${kind} · ${event}`,
    words.about.job(format.number(job.done + job.failed), format.number(job.total)),
  ];
}

export const jobForms = {
  jobCancelPreview: { fields: ALL_FILTERS, about: aboutEvent },
  jobResendPreview: { fields: ALL_FILTERS, about: aboutEvent },
  jobCancel: startForm(
    ({ jobCancelPreview }) => jobCancelPreview,
    ({ words }) => words.about.cancelsAll,
  ),
  jobResend: startForm(
    ({ jobResendPreview }) => jobResendPreview,
    ({ words }) => words.about.resendsAll,
  ),
  eventCallOff: {
    fields: [],
    isDangerous: true,
    carries: async ({ read, operations }, given) => {
      const { eventId = '' } = given;
      const preview = await read(operations.eventCallOffPreview, { eventId });
      return preview ? startOf(preview, given) : {};
    },
    concerns: countOf,
    about: async (page, { eventId = '' }) => {
      const { read, operations, words, format } = page;
      const preview = await read(operations.eventCallOffPreview, { eventId });
      if (!preview) return [];
      const { about } = words;
      const number = (value: number) => format.number(value);
      return [
        preview.eventName,
        about.callOffStops(number(preview.ticketsOnSale)),
        about.callOffCancels(number(preview.count)),
        about.callOffEnds(number(preview.held), number(preview.waiting)),
        about.callOffTells,
      ];
    },
    next: ({ id }) => `/jobs/${id}`,
  },
  jobPause: { about: aboutJob },
  jobResume: { about: aboutJob },
  jobAbort: {
    isDangerous: true,
    about: async (page, given) => [...(await aboutJob(page, given)), page.words.about.jobAbort],
  },
} satisfies FormDefinitions;
