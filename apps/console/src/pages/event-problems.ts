import type { Seller } from '@floodgate/events/console';
import { saleOf } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import { buttonLink, chip, Html, NOTHING, rows, type Tone } from '../view/html.ts';
import type { EventPageRequest } from './event-page.ts';
import { issueKeyLink } from './event-partners.ts';
import { phaseOf } from './event-state.ts';

/** Something about an event that somebody should look at, with what can be done. */
interface Problem {
  tone: Tone;
  /** One or two words, or a number. */
  mark: string;
  text: string;
  remedy: Html;
}

/** The things that need attention. Before the first sale: the things that are missing until it can open. */
export interface Problems {
  heading: string;
  /** In place of the list, if there is no problem. */
  none: string;
  list: readonly Problem[];
}

/** The services without which nothing is sold, finalized or delivered. */
const SERVICES = ['api', 'worker', 'delivery'] as const;

/** Resolves to what needs attention on an event. Nothing of it is looked for among all registrations. */
export async function problemsOf(page: EventPageRequest): Promise<Problems> {
  const { event, tickets, words } = page;
  const { overview } = words;
  if (event.calledOffAt || event.archivedAt)
    return { heading: overview.attention, none: overview.noneOver, list: [] };
  const isBefore = phaseOf(event, new Date()) === 'upcoming' && tickets.every(({ taken }) => taken === 0);
  const list = [
    ...saleProblems(page),
    ...(await mailProblems(page)),
    ...(await outdatedProblems(page)),
    ...(await serviceProblems(page)),
    ...openingNote(page),
  ];
  return {
    heading: isBefore ? overview.before : overview.attention,
    none: isBefore ? overview.ready : overview.noneNow,
    list,
  };
}

export const attentionHtml = ({ list, none }: Problems) =>
  list.length === 0
    ? html`<p>${none}</p>`
    : rows(
        ...list.map(
          ({ tone, mark, text, remedy }) => new Html(html`!${chip(tone, mark).text} ${text} !${remedy.text}`),
        ),
      );

function saleProblems(page: EventPageRequest): Problem[] {
  const { event, tickets, sellers, words, may, action, operations } = page;
  const { overview } = words;
  if (phaseOf(event, new Date()) === 'past') return [];
  const open = sellers.filter(({ disabledAt }) => disabledAt === null);
  const problems: Problem[] = [];
  if (open.length === 0)
    problems.push({ tone: 'bad', mark: overview.sale, text: overview.noSellers, remedy: toPartners(page) });
  else if (open.every(({ openKeys }) => openKeys === 0))
    problems.push({ tone: 'bad', mark: overview.sale, text: overview.noKeys, remedy: keyOf(page, open) });
  if (!may('tickets:read')) return problems;
  if (tickets.length === 0) {
    const add = action(operations.ticketCreate, { eventId: event.id }, words.tickets.add);
    problems.push({ tone: 'bad', mark: overview.sale, text: overview.noTickets, remedy: add });
  } else if (tickets.every(({ active }) => !active))
    problems.push({ tone: 'warn', mark: overview.sale, text: overview.allStopped, remedy: NOTHING });
  return problems;
}

const toPartners = ({ event, words }: EventPageRequest) =>
  buttonLink(`/events/${event.id}/partners`, words.overview.toPartners);

/** Returns the form that makes the missing key. If several partners lack one, or it is not allowed: their list. */
function keyOf(page: EventPageRequest, sellers: readonly Seller[]) {
  const [only] = sellers;
  const issued = only && sellers.length === 1 ? issueKeyLink(page, only) : NOTHING;
  return issued === NOTHING ? toPartners(page) : issued;
}

async function mailProblems({
  event,
  read,
  operations,
  words,
  format,
}: EventPageRequest): Promise<Problem[]> {
  const { overview } = words;
  const mail = await read(operations.mailSummary, { eventId: event.id });
  if (!mail) return [];
  const messages = `/events/${event.id}/messages`;
  const problems: Problem[] = [];
  if (mail.state !== 'active')
    problems.push({
      tone: 'warn',
      mark: overview.mail,
      text: mail.state === 'off' ? overview.mailOff : overview.mailPaused,
      remedy: buttonLink(messages, words.event.tabs.messages),
    });
  if (mail.undelivered > 0)
    problems.push({
      tone: 'bad',
      mark: format.number(mail.undelivered) + (mail.moreUndelivered ? '+' : ''),
      text: overview.undelivered(mail.undelivered),
      remedy: buttonLink(messages, overview.whoAndWhy),
    });
  return problems;
}

/** Resolves to the attendees whose last e-mail has an old time or place, with the way to send the new one. */
export async function outdatedProblems(page: EventPageRequest): Promise<Problem[]> {
  const { event, read, operations, action, words, format } = page;
  const { overview } = words;
  const outdated = await read(operations.eventOutdated, { eventId: event.id });
  if (!outdated?.change) return [];
  const { outdatedEmails } = outdated.change;
  const mark = format.number(outdatedEmails);
  const name = overview.tell(outdatedEmails, mark);
  const tell = action(operations.eventNotifyHolders, { eventId: event.id }, name, { kind: 'primary' });
  return [{ tone: 'warn', mark, text: overview.outdated(outdatedEmails), remedy: tell }];
}

async function serviceProblems({ read, operations, words, format }: EventPageRequest): Promise<Problem[]> {
  const { overview } = words;
  const running = await read(operations.processList, {});
  if (!running) return [];
  const services = new Set(running.map(({ service }) => service));
  const missing = SERVICES.filter((service) => !services.has(service));
  if (missing.length === 0) return [];
  const names = format.list(missing.map((service) => overview.services[service]));
  const remedy = buttonLink('/health', words.shell.pages.health);
  return [{ tone: 'bad', mark: overview.service, text: overview.notRunning(names), remedy }];
}

/** Returns when the sale opens, if it has not yet. It is no problem, but the answer to why nothing is sold. */
function openingNote({ tickets, words, format }: EventPageRequest): Problem[] {
  const { open, opensAt } = saleOf(tickets, new Date());
  if (open > 0 || opensAt === null) return [];
  const text = words.overview.opens(format.timeText(opensAt), format.countdown(+opensAt - Date.now()));
  return [{ tone: 'info', mark: words.overview.sale, text, remedy: NOTHING }];
}
