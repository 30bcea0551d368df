import { maskPassCodes } from '@floodgate/contract';
import type { Job } from '@floodgate/jobs/console';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { actions, link, NOTHING } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { personPath } from './names.ts';

export const isOpen = ({ state }: Job) => state === 'running' || state === 'paused';

/** Returns what a job could not do, why, and a form that does it for one. */
export function failuresHtml(
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
            ? action(operations.mailResend, { passReference, kind: 'confirmation' }, jobs.sendOne, {
                of: maskPassCodes(passReference),
              })
            : action(operations.registrationCancel, { passReference }, jobs.cancelOne, {
                of: maskPassCodes(passReference),
              }),
      },
    ],
  })}
  !${actions(again)}`;
}

/** In place of what a filter says about people. */
export const HIDDEN = '…';

/** Returns the fields of the filter of a job, as texts. */
export function filterOfJob({ filter }: Job): [name: string, value: string][] {
  const fields = Object.entries<unknown>({ ...Object(filter) }).filter(([name]) => name !== 'eventId');
  return fields.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

/** Returns a link to the preview of the same work: of what was left. A filter about people is not kept. */
function againLink(job: Job, { action, operations, words }: PageRequest) {
  const filter = filterOfJob(job);
  if (isOpen(job) || filter.some(([, value]) => value === HIDDEN)) return NOTHING;
  const given = { eventId: job.eventId, ...Object.fromEntries(filter) };
  const { again } = words.jobs;
  if (job.kind === 'call-off') return action(operations.eventCallOff, { eventId: job.eventId }, again);
  if (job.kind === 'cancel') return action(operations.jobCancel, given, again);
  // An e-mail that was sent must not be sent twice.
  return NOTHING;
}
