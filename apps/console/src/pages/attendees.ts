import { InvalidInput } from '@floodgate/service';
import { html } from 'ghtml';
import type { Operations } from '../operations.ts';
import { actions, address, alertHtml, card, NOTHING } from '../view/html.ts';
import { listing, type Column } from '../view/listing.ts';
import { awayHtml } from '../view/page.ts';
import { pager } from '../view/pager.ts';
import { ruleWords } from '../words/index.ts';
import { filterForm, filterIn, type FilterTexts } from './attendee-filter.ts';
import type { EventPageRequest } from './event-page.ts';
import { partnerNames, type EventNames } from './names.ts';
import { nameHtml, sellerHtml } from './people-search.ts';
import { mailChip, registrationChip } from './states.ts';

const PER_PAGE = 25;
const FORMATS = ['csv', 'excel', 'ndjson'] as const;

type Hit = Awaited<ReturnType<Operations['attendeeFind']>>['attendees'][number];
type Match = Awaited<ReturnType<Operations['registrationSearch']>>['registrations'][number];

/**
 * Shows the attendees of an event, the newest first, or those that a filter selects, in the order of their sale.
 * The first needs an index only, so it is as fast for a large event.
 */
export async function showAttendees(page: EventPageRequest) {
  const { event, query, format, action, operations, words } = page;
  const { attendees } = words.people;
  const path = `/events/${event.id}/attendees`;
  const filter = filterIn(query, format.zone);
  const isFiltered = Object.keys(filter).length > 0;
  const list = await listOf(page, path, filter).catch((error: unknown) => {
    if (!(error instanceof InvalidInput)) throw error;
    return alertHtml(
      Object.values(error.rules)
        .map((rule) => ruleWords(words, rule))
        .join(' '),
    );
  });
  const eventId = event.id;
  return {
    parts: [
      actions(
        action(operations.guestAdd, { eventId }, attendees.guest),
        action(operations.guestImport, { eventId }, attendees.guests),
      ),
      await filterForm(page, path),
      list,
      card(attendees.files, filesHtml(page, path, filter)),
      actCard(page, filter, isFiltered),
    ],
    help: 'operate/console',
  };
}

const listOf = (page: EventPageRequest, path: string, filter: FilterTexts) =>
  Object.keys(filter).length > 0 ? filteredList(page, path, filter) : wholeList(page, path);

async function wholeList(page: EventPageRequest, path: string) {
  const { event, query, read, operations, words, format, tickets } = page;
  const { people } = words;
  const eventId = event.id;
  const { after, before } = query;
  const found = (await read(operations.attendeeFind, { eventId, after, before, limit: PER_PAGE }))!;
  const taken = tickets.reduce((sum, ticket) => sum + ticket.taken, 0);
  const columns = await sharedColumns(page);
  const pageAt = (field: 'after' | 'before', at: number | null) =>
    at === null ? undefined : address(path, { [field]: at });
  return html`!${awayHtml(found.shardsAway, words)}
    <p class="soft">${people.attendees.taken(format.number(taken))} · ${people.attendees.newest}</p>
    !${found.incomplete ? html`<p class="soft">${people.incomplete}</p>` : ''}
    !${listing<Hit>({
      caption: words.event.tabs.attendees,
      things: found.attendees,
      empty: people.attendees.none,
      format,
      columns,
    })}
    !${pager(words, pageAt('before', found.previous), pageAt('after', found.cursor))}`;
}

async function filteredList(page: EventPageRequest, path: string, filter: FilterTexts) {
  const { event, query, read, operations, words, format } = page;
  const { attendees, columns: heads, isAdmitted, notAdmitted } = words.people;
  const eventId = event.id;
  const { after, count } = query;
  const of = { eventId, ...filter };
  const found = (await read(operations.registrationSearch, { ...of, after, limit: PER_PAGE }))!;
  const counted = count ? await read(operations.registrationCount, of) : undefined;
  const columns: Column<Match>[] = [
    ...(await sharedColumns(page)),
    { head: heads.mail, cell: ({ mail }) => mailChip(mail, words) },
    { head: heads.admitted, cell: ({ admitted }) => (admitted ? isAdmitted : notAdmitted) },
    { head: heads.sold, cell: ({ reservedAt }) => format.time(reservedAt) },
  ];
  const countHtml = counted
    ? html`<strong>${attendees.counted(format.number(counted.count))}</strong>`
    : html`<a href="${address(path, { ...filter, after, count: 'true' })}">${attendees.count}</a>`;
  const first = after ? html`<a class="button" href="${address(path, filter)}">${attendees.first}</a>` : '';
  const next = found.more ? address(path, { ...filter, after: found.cursor }) : undefined;
  return html`<p class="soft">
      !${countHtml} · ${attendees.oldest} · <a href="${path}">${attendees.reset}</a>
    </p>
    !${listing<Match>({
      caption: words.event.tabs.attendees,
      things: found.registrations,
      empty: found.more ? attendees.notYet : attendees.noneMatches,
      format,
      columns,
    })}
    !${first} !${pager(words, undefined, next)}`;
}

/** Returns the columns that a list has with a filter and without. */
async function sharedColumns(page: EventPageRequest): Promise<Column<Hit | Match>[]> {
  const { event, tickets, words } = page;
  const { columns } = words.people;
  const titles = new Map(tickets.map(({ id, title }) => [id, title]));
  const names: EventNames = { name: event.name, timeZone: event.timeZone, tickets: titles };
  const events = new Map([[event.id, names]]);
  const partners = await partnerNames(page, [event.id]);
  return [
    { head: columns.name, cell: (one) => nameHtml(one, events) },
    { head: columns.ticket, cell: ({ ticketId }) => names.tickets.get(ticketId) },
    { head: columns.partner, cell: (one) => sellerHtml(one, partners, page) },
    { head: columns.state, cell: ({ state }) => registrationChip(state, words) },
  ];
}

/** Returns links to files with exactly what the list shows. */
function filesHtml({ words, format }: EventPageRequest, path: string, filter: FilterTexts) {
  const { formats } = words.people.attendees;
  // Spreadsheets split by the list separator of the region.
  const separator = format.language === 'de' ? 'semicolon' : undefined;
  const links = FORMATS.map((name) => {
    const query = { ...filter, format: name, separator: name === 'excel' ? separator : undefined };
    return html`<a class="button" href="${address(`${path}/file`, query)}" download>${formats[name]}</a>`;
  });
  return html`<p class="actions">!${links}</p>`;
}

/** Returns what can be done to all of the list at once. Each begins with a preview. */
function actCard(
  { event, action, operations, words }: EventPageRequest,
  filter: FilterTexts,
  isFiltered: boolean,
) {
  const { attendees } = words.people;
  const of = { eventId: event.id, ...filter };
  const mayResend = (filter.state ?? 'confirmed') === 'confirmed';
  const content = actions(
    mayResend ? action(operations.jobResend, of, attendees.resendAll) : NOTHING,
    filter.state === 'cancelled' || !isFiltered
      ? NOTHING
      : action(operations.jobCancel, of, attendees.cancelAll, { kind: 'danger' }),
    isFiltered || event.calledOffAt
      ? NOTHING
      : action(operations.eventCallOff, { eventId: event.id }, attendees.callOff, {
          kind: 'danger',
        }),
  );
  return content && card(isFiltered ? attendees.actOn.matching : attendees.actOn.all, content);
}
