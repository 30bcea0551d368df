import type { Event } from '@floodgate/events/console';
import { KEPT_HOURS, type DescribedTicket } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import { instantText, localText } from '../forms/times.ts';
import { readWindow } from '../sale/sale-history.ts';
import { actions, address, alertHtml, buttonLink } from '../view/html.ts';
import { launchHtml } from './live-view.ts';

const MINUTE_MS = 60_000;

/** Returns the form that asks for an earlier minute. It is a GET, so that the address of a minute can be shared. */
export function earlierForm(
  { words: { live }, format }: PageRequest,
  { id }: Event,
  at = new Date(),
  fault = '',
) {
  const value = localText(startOfMinute(at), format.zone);
  return html`<form class="card earlier" method="get" action="/live/${id}">
    <label for="at">${live.earlier}</label>
    <input
      type="datetime-local"
      id="at"
      name="at"
      value="${value}"
      required
      aria-describedby="at-hint"
      !${fault ? 'aria-invalid="true"' : ''}
    />
    <button>${live.show}</button>
    <p class="hint" id="at-hint">
      !${fault ? html`<strong>${fault}</strong> ` : ''}${live.earlierHint(format.zone, KEPT_HOURS)}
    </p>
  </form>`;
}

const startOfMinute = (time: Date) => new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS);

/** Resolves to a launch as it was at an earlier minute, with links to the minutes before and after it. */
export async function earlierPage(
  request: PageRequest,
  event: Event,
  tickets: readonly DescribedTicket[],
  text: string,
) {
  const { db, words, format, viewer } = request;
  const { live } = words;
  const at = new Date(instantText(text, format.zone));
  if (Number.isNaN(at.getTime())) return [earlierForm(request, event, new Date(), live.notATime)];
  const start = startOfMinute(at);
  const end = new Date(start.getTime() + MINUTE_MS);
  const window = await readWindow(db, { shardId: event.shardId, eventId: event.id }, end);
  const wayTo = (minutes: number, name: string) =>
    buttonLink(
      address(`/live/${event.id}`, {
        at: localText(new Date(start.getTime() + minutes * MINUTE_MS), format.zone),
      }),
      name,
    );
  const figures = { tickets, window, notices: [], installation: undefined, isEarlier: true };
  return [
    html`<p class="sub">${live.minute(format.timeText(start))}</p>`,
    actions(
      wayTo(-1, live.minuteBefore),
      wayTo(1, live.minuteAfter),
      buttonLink(`/live/${event.id}`, live.backToLive, { kind: 'primary' }),
    ),
    window.last ? '' : alertHtml(live.notKept),
    launchHtml(figures, { ...viewer, format }),
    earlierForm(request, event, start),
  ];
}
