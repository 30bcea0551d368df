import type { PreviewedRow } from '@floodgate/jobs/console';
import { maskPassCodes } from '@floodgate/contract';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import type { Operations } from '../operations.ts';
import { alertHtml, card, figure, grid, Html, link, rows, type Texts } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Words } from '../words/index.ts';
import { eventNames, partnerNames, personPath } from './names.ts';
import { paybackHtml, settlementRows } from './payback.ts';
import { registrationChip } from './states.ts';

// The effect of a job, above the button that starts it.

type Cancel = Awaited<ReturnType<Operations['jobCancelPreview']>>;
type Resend = Awaited<ReturnType<Operations['jobResendPreview']>>;
type CallOff = Awaited<ReturnType<Operations['eventCallOffPreview']>>;

/** The event of a preview. */
interface Previewed {
  eventId: number;
  eventName: string;
}

/** Returns whether attendees get an e-mail if an operator cancels registrations of an event. */
export function mailedText(
  { willBe }: Words['jobs'],
  event: { mode: string; mailOperatorCancels: boolean } | undefined,
) {
  if (!event) return '';
  if (event.mode === 'test') return willBe.test;
  return event.mailOperatorCancels ? willBe.mailed : willBe.notMailed;
}

/** Says what the cancellation of all that match a filter does, and shows the first of them. */
export async function aboutCancelJob(page: PageRequest, preview: Cancel, { admitted }: Texts) {
  const { words, format, read, operations } = page;
  const { willBe } = words.jobs;
  const { count, eventId } = preview;
  if (count === 0) return nothingHtml(preview, words.jobs.nobody);
  const event = await read(operations.eventShow, { eventId });
  const leavesAdmitted = admitted === 'false';
  const consequences = [
    willBe.cancel(format.number(count)),
    willBe.notUndone,
    willBe.partners,
    mailedText(words.jobs, event),
    preview.admitted ? willBe.admitted(format.number(preview.admitted)) : '',
    leavesAdmitted ? willBe.leaveAdmitted : '',
  ];
  return previewHtml(page, preview, consequences, await firstHtml(page, eventId, preview.first));
}

/** Says what sending the passes of all that match a filter again does, and shows the first of them. */
export async function aboutResendJob(page: PageRequest, preview: Resend) {
  const { words, format } = page;
  const { willBe } = words.jobs;
  const { count, eventId, mail, mode } = preview;
  if (count === 0) return nothingHtml(preview, words.jobs.nobody);
  const consequences = [
    willBe.resend(format.number(count)),
    willBe.suppressed,
    mail === 'off' ? willBe.mailOff : '',
    mail === 'paused' ? willBe.mailPaused : '',
    mode === 'test' ? willBe.test : '',
  ];
  return previewHtml(page, preview, consequences, await firstHtml(page, eventId, preview.first));
}

/** Says what calling off an event does: to its sale, its registrations, its partners, and what is to pay back. */
export async function aboutCallOff(page: PageRequest, preview: CallOff) {
  const { words, format, read, operations } = page;
  const { jobs } = words;
  const { willBe } = jobs;
  const { eventId, count, held, waiting, ticketsOnSale, calledOffAt } = preview;
  // It is as it should be, so this is no alert.
  if (count === 0 && calledOffAt) return eventHtml(preview) + card('', html`<p>${jobs.nobodyLeft}</p>`);
  const event = await read(operations.eventShow, { eventId });
  const consequences = [
    calledOffAt ? willBe.again : '',
    willBe.sale(format.number(ticketsOnSale)),
    willBe.final,
    count > 0 ? willBe.callOff(format.number(count)) : willBe.nobodyToCancel,
    willBe.released(format.number(held), format.number(waiting)),
    ...(count > 0 ? [willBe.partners, mailedText(words.jobs, event)] : []),
  ];
  const settled = (await settlementRows(page, eventId)).map((row) => ({ ...row, amount: row.netAmount }));
  const amounts = settled.length > 0 ? card(jobs.toPayBack, paybackHtml(page, settled)) : '';
  return previewHtml(page, preview, consequences, (await seatsHtml(page, eventId, preview.seats)) + amounts);
}

/** Returns what follows, with the number of registrations at the top. */
function previewHtml(
  { words, format }: PageRequest,
  preview: Previewed & { count: number },
  consequences: readonly string[],
  details: string,
) {
  return html`!${eventHtml(preview)} !${grid(figure(format.number(preview.count), words.jobs.registrations))}
  !${card('', rows(...consequences.filter(Boolean)))} !${details}`;
}

/** Returns what says why a job has nothing to do. */
const nothingHtml = (preview: Previewed, reason: string) => eventHtml(preview) + alertHtml(reason);

const eventHtml = ({ eventId, eventName }: Previewed) =>
  html`<p class="sub">
    <a href="/events/${eventId}"><bdi>${eventName}</bdi></a>
  </p>`;

/** Returns the first registrations on which a job acts. */
async function firstHtml(page: PageRequest, eventId: number, first: readonly PreviewedRow[]) {
  const { words, format } = page;
  const { people, jobs } = words;
  if (first.length === 0) return '';
  const partners = await partnerNames(page, [eventId]);
  const table = listing<PreviewedRow>({
    caption: jobs.first,
    isTitled: true,
    things: first,
    empty: '',
    format,
    columns: [
      {
        head: people.columns.name,
        cell: ({ passReference, fullName }) =>
          link(personPath(passReference), fullName ?? maskPassCodes(passReference)),
      },
      { head: people.columns.ticket, cell: ({ ticketTitle }) => ticketTitle },
      { head: people.columns.partner, cell: ({ partnerId }) => partners.get(partnerId) ?? String(partnerId) },
      { head: people.columns.state, cell: ({ state }) => registrationChip(state, words) },
      { head: people.columns.sold, cell: ({ reservedAt }) => format.time(reservedAt) },
    ],
  });
  return card('', table);
}

/** Returns seats by partner and ticket. */
export async function seatsHtml(
  page: PageRequest,
  eventId: number,
  seats: readonly Pick<CallOff['seats'][number], 'partnerId' | 'ticketId' | 'sold' | 'held'>[],
) {
  const { words, format } = page;
  const { jobs } = words;
  if (seats.length === 0) return '';
  const [events, partners] = await Promise.all([eventNames(page, [eventId]), partnerNames(page, [eventId])]);
  const { tickets } = events.get(eventId)!;
  const table = listing({
    caption: jobs.byPartner,
    things: seats,
    empty: '',
    format,
    columns: [
      {
        head: jobs.partner,
        cell: ({ partnerId }) => new Html(html`<bdi>${partners.get(partnerId) ?? partnerId}</bdi>`),
      },
      { head: jobs.ticket, cell: ({ ticketId }) => tickets.get(ticketId) ?? ticketId },
      { head: jobs.seats, cell: ({ sold }) => sold },
      { head: jobs.held, cell: ({ held }) => held },
    ],
  });
  return card(jobs.byPartner, table);
}
