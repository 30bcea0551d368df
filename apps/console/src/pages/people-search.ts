import { maskPassCodes } from '@floodgate/contract';
import { passReferenceIn } from '@floodgate/registrations/console';
import { InvalidInput } from '@floodgate/service';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import type { Operations } from '../operations.ts';
import { address, alertHtml, Html, link } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { awayHtml } from '../view/page.ts';
import { pager } from '../view/pager.ts';
import { eventNames, partnerNames, personPath, type EventNames } from './names.ts';
import { registrationChip } from './states.ts';

const PER_PAGE = 25;
const MOST_CHARACTERS = 255;
const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Found = Awaited<ReturnType<Operations['attendeeFind']>>;
type Hit = Found['attendees'][number];

/**
 * Shows whom a text names. The search itself decides what the text is: each word can be one of the name, a part
 * of the address, the digits of a phone number or the order of a shop. A pass reference leads to its page.
 */
export const showPeople: Show = async (page) => {
  const { words, query, operations, action } = page;
  const { people } = words;
  const text = (query['q'] ?? '').trim().slice(0, MOST_CHARACTERS);
  const passReference = passReferenceIn(text);
  if (passReference !== null) return { redirectTo: personPath(passReference) };
  const head = { title: people.title, about: people.about, actions: [action(operations.passVerify, {})] };
  const form = searchForm(page, text);
  if (text === '') return { ...head, parts: [form, hintsHtml(page)] };
  return { ...head, parts: [form, ...(await resultsOf(page, text))] };
};

const searchForm = ({ words }: PageRequest, text: string) =>
  html`<form
    class="card search-here"
    role="search"
    method="get"
    action="/people"
    aria-label="${words.people.title}"
  >
    <label for="q">${words.people.ask}</label>
    <div class="buttons">
      <input id="q" type="search" name="q" value="${text}" autocomplete="off" required />
      <button class="primary">${words.shell.find}</button>
    </div>
  </form>`;

const hintsHtml = ({ words }: PageRequest) =>
  html`<ul class="soft">
    !${words.people.hints.map((hint) => html`<li>${hint}</li>`)}
  </ul>`;

async function resultsOf(page: PageRequest, text: string) {
  const { words, query, read, operations } = page;
  const { people } = words;
  const { after, before } = query;
  try {
    const found = await read(operations.attendeeFind, { text, after, before, limit: PER_PAGE });
    if (!found) return [alertHtml(people.onlyPasses)];
    return [awayHtml(found.shardsAway, words), await foundHtml(page, text, found)];
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return [alertHtml(people.tooShort)];
  }
}

async function foundHtml(page: PageRequest, text: string, found: Found) {
  const { words, format } = page;
  const { people } = words;
  const { attendees, total, moreThanTotal, incomplete, cursor, previous } = found;
  const eventIds = attendees.map(({ eventId }) => eventId);
  const [events, partners] = await Promise.all([eventNames(page, eventIds), partnerNames(page, eventIds)]);
  const pageAt = (field: 'after' | 'before', at: number | null) =>
    at === null ? undefined : address('/people', { q: text, [field]: at });
  const nobody = [people.none(text), REQUEST_ID.test(text) && people.noRequests].filter(Boolean).join(' ');
  return html`!${attendees.length > 0 ? html`<p>${people.found(format.number(total), moreThanTotal)}</p>` : ''}
  !${incomplete ? html`<p class="soft">${people.incomplete}</p>` : ''}
  !${listing({
    caption: people.title,
    things: attendees,
    empty: nobody,
    format,
    columns: [
      { head: people.columns.name, cell: (hit) => nameHtml(hit, events) },
      {
        head: people.columns.event,
        cell: ({ eventId }) => link(`/events/${eventId}`, events.get(eventId)!.name),
      },
      { head: people.columns.ticket, cell: (hit) => ticketHtml(hit, events, page) },
      { head: people.columns.partner, cell: (hit) => sellerHtml(hit, partners, page) },
      { head: people.columns.state, cell: ({ state }) => registrationChip(state, words) },
    ],
  })}
  !${pager(words, pageAt('before', previous), pageAt('after', cursor))}`;
}

/** Returns the ticket, when it was sold and its pass: two seats of one person differ in nothing else. */
function ticketHtml(
  { eventId, ticketId, reservedAt, passReference }: Hit,
  events: ReadonlyMap<number, EventNames>,
  { format }: PageRequest,
) {
  const { tickets, timeZone } = events.get(eventId)!;
  const sold = format.inZone(timeZone).exactTime(reservedAt);
  return new Html(
    html`${tickets.get(ticketId) ?? ''}!${sold ? html`<br /><span class="soft">!${sold.text}</span>` : ''}
    !${passReference === null ? '' : html`<br /><code>${maskPassCodes(passReference)}</code>`}`,
  );
}

/** Returns the name of a person as a link, with the address and the phone number. */
export function nameHtml(
  { passReference, fullName, emailAddress, phoneNumber, eventId, ticketId }: PersonCells,
  events: ReadonlyMap<number, EventNames>,
) {
  // An entry of a waiting list has no page of its own.
  const path = passReference === null ? `/events/${eventId}/tickets/${ticketId}` : personPath(passReference);
  const name = fullName ?? passReference ?? events.get(eventId)?.name ?? '';
  const reached = [emailAddress, phoneNumber].filter(Boolean).join(' · ');
  return new Html(
    html`<a href="${path}"><bdi>${name}</bdi></a
      ><br /><span class="soft">${reached}</span>`,
  );
}

type PersonCells = Pick<Hit, 'passReference' | 'phoneNumber' | 'eventId' | 'ticketId'> & {
  fullName: string | null;
  emailAddress: string | null;
};

/** Returns the partner of a registration, with its order. */
export function sellerHtml(
  { partnerId, partnerReference }: { partnerId: number; partnerReference: string | null },
  partners: ReadonlyMap<number, string>,
  { words, may }: PageRequest,
) {
  const name = partners.get(partnerId) ?? `${words.people.columns.partner} ${partnerId}`;
  const seller = may('partners:read') ? link(`/partners/${partnerId}`, name).text : html`${name}`;
  const order = partnerReference === null ? '' : html`<br /><span class="soft">${partnerReference}</span>`;
  return new Html(seller + order);
}
