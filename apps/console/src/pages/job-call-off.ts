import type { Job } from '@floodgate/jobs/console';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { actions, card, grid, Html, link, rows } from '../view/html.ts';
import { seatsHtml } from './job-preview.ts';
import { paybackHtml, settlementRows } from './payback.ts';

/** What calling off an event did at the start, before its registrations. */
interface CallOffResult {
  stoppedTickets?: number[];
  endedHolds?: number;
  endedEntries?: number;
  seats?: Parameters<typeof seatsHtml>[2];
}

/** Returns what was done at once, the seats by partner, and what is to pay back. */
export async function callOffPart(job: Job, page: PageRequest) {
  const { words, format } = page;
  const { jobs } = words;
  const {
    stoppedTickets = [],
    endedHolds = 0,
    endedEntries = 0,
    seats = [],
  } = (job.result ?? {}) as CallOffResult;
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
    settled.length > 0
      ? card(jobs.cancelledAmounts, paybackHtml(page, amounts) + actions(reports, files), 6)
      : '',
  )}
  !${await seatsHtml(page, job.eventId, seats)}`;
}
