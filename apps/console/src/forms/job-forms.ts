import { randomUUID } from 'node:crypto';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { aboutCallOff, aboutCancelJob, aboutResendJob } from '../pages/job-preview.ts';
import type { Texts } from '../view/html.ts';
import type { Words } from '../words/index.ts';
import type { FormDefinitions } from './definitions.ts';

/** What a preview has counted. The start of the job repeats it, so nothing else is treated. */
interface Counted {
  count: number;
  upTo: number;
}

type Filter = Texts & { eventId: string };

/** Returns a function that reads a preview once per request: its text, its number and its fields need it. */
function oncePerPage<Preview extends Counted>(
  preview: (page: PageRequest, given: Filter) => Promise<Preview>,
) {
  const previews = new WeakMap<PageRequest, Promise<Preview>>();
  return (page: PageRequest, given: Texts) => {
    const known = previews.get(page) ?? preview(page, { ...given, eventId: given['eventId'] ?? '' });
    previews.set(page, known);
    return known;
  };
}

const cancelPreview = oncePerPage(
  async ({ read, operations }, given) => (await read(operations.jobCancelPreview, given))!,
);
const resendPreview = oncePerPage(
  async ({ read, operations }, given) => (await read(operations.jobResendPreview, given))!,
);
const callOffPreview = oncePerPage(
  async ({ read, operations }, { eventId }) => (await read(operations.eventCallOffPreview, { eventId }))!,
);

/** Returns what the forms of all jobs have: the number of the preview, and an id, so that no click counts twice. */
const startOf = <Preview extends Counted>(
  preview: (page: PageRequest, given: Texts) => Promise<Preview>,
) => ({
  // They ask for nothing: the link says which registrations.
  parts: { preview: [] },
  isDangerous: true,
  isShownByNext: true,
  fixed: async (page: PageRequest, given: Texts): Promise<Texts> => {
    const { count, upTo } = await preview(page, given);
    return { expect: String(count), upTo: String(upTo), jobId: randomUUID() };
  },
  concerns: async (page: PageRequest, given: Texts) =>
    given['expect'] === undefined ? (await preview(page, given)).count : Number(given['expect']),
  next: ({ id, eventId }: { id: string; eventId: number }) => `/jobs/${id}?eventId=${eventId}`,
});

type Consequence = Exclude<keyof Words['jobs']['forms'], 'abort'>;

const says =
  (consequence: Consequence) =>
  ({ words }: PageRequest) =>
    Promise.resolve(html`<p class="sub">${words.jobs.forms[consequence]}</p>`);

/** Says how many registrations are left as they are. */
async function aboutAbort({ read, operations, words, format }: PageRequest, { jobId = '' }: Texts) {
  const { total, done, failed } = (await read(operations.jobShow, { jobId }))!;
  return html`<p class="sub">${words.jobs.forms.abort(format.number(total - done - failed))}</p>`;
}

export const jobForms = {
  jobCancel: {
    ...startOf(cancelPreview),
    about: async (page, given) => aboutCancelJob(page, await cancelPreview(page, given), given),
  },
  jobResend: {
    ...startOf(resendPreview),
    isDangerous: false,
    about: async (page, given) => aboutResendJob(page, await resendPreview(page, given)),
  },
  eventCallOff: {
    ...startOf(callOffPreview),
    about: async (page, given) => aboutCallOff(page, await callOffPreview(page, given)),
  },
  jobPause: { about: says('pause') },
  jobResume: { about: says('resume') },
  jobAbort: { about: aboutAbort, isDangerous: true },
} satisfies FormDefinitions;
