import type { Job } from '@floodgate/jobs/console';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { actions, card, grid, Html, link, rows } from '../view/html.ts';
import { isOpen } from './job-failures.ts';
import { seatsHtml } from './job-preview.ts';
import { paybackHtml, settlementRows } from './payback.ts';

const Count = Type.Optional(Type.Integer());

/** The steps of calling off an event that come before its registrations. */
const CallOffResult = Type.Object({
  stoppedTickets: Type.Optional(Type.Array(Type.Integer())),
  endedHolds: Count,
  endedEntries: Count,
  seats: Type.Optional(
    Type.Array(
      Type.Object({
        partnerId: Type.Integer(),
        ticketId: Type.Integer(),
        sold: Type.Integer(),
        held: Type.Integer(),
      }),
    ),
  ),
});

/** Above this, the sums take too long for a page that is opened often. The report has them. */
const MOST_SETTLED = 20_000;

/** Returns what was done at once, the seats by partner, and what is to pay back. */
export async function callOffPart(job: Job, page: PageRequest) {
  const { words, format } = page;
  const { jobs } = words;
  const result = Value.Check(CallOffResult, job.result) ? job.result : {};
  const { stoppedTickets = [], endedHolds = 0, endedEntries = 0, seats = [] } = result;
  const atOnce = rows(
    jobs.stopped(format.number(stoppedTickets.length)),
    jobs.endedHolds(format.number(endedHolds)),
    jobs.endedEntries(format.number(endedEntries)),
  );
  return html`!${grid(card(jobs.atOnce, atOnce, 6), await paybackCard(job, page))}
  !${await seatsHtml(page, job.eventId, seats)}`;
}

/** Returns what is to pay back, and where the lists for the partners are. */
async function paybackCard(job: Job, page: PageRequest) {
  const { jobs } = page.words;
  const { eventId, total } = job;
  const isSettled = !isOpen(job) && total <= MOST_SETTLED;
  const settled = isSettled ? await settlementRows(page, eventId) : [];
  const amounts = settled.map((row) => ({ ...row, amount: row.cancelledAmount }));
  const file = `/operator/v1/events/${eventId}/reports/settlement?format=csv`;
  const links = actions(
    link(`/events/${eventId}/reports`, jobs.settlement),
    new Html(html`<a href="${file}" download>${jobs.settlementFile}</a>`),
  );
  if (settled.length === 0) return card(jobs.toPayBack, links, 6);
  return card(jobs.cancelledAmounts, paybackHtml(page, amounts) + links, 6);
}
