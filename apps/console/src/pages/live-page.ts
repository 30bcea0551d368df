import type { Event } from '@floodgate/events/console';
import { findMailState } from '@floodgate/mail/console';
import { mayUse, SHARED_PAGE, type OperatorPrincipal } from '@floodgate/operators';
import type { DescribedTicket } from '@floodgate/tickets/console';
import type { FastifyInstance } from 'fastify';
import { adder, type PageRequest } from '../add-page.ts';
import { undeliveredMsOf, waitingOf } from '../installation/figures.ts';
import { findingsFor, noticesOf } from '../installation/notices.ts';
import { addStream, liveHtml } from '../live-stream.ts';
import { readBy, type ConsoleContext } from '../operations.ts';
import { followWindow, readWindow, type SaleWindow } from '../sale/sale-history.ts';
import { link, NOTHING } from '../view/html.ts';
import type { Page } from '../view/page.ts';
import type { Viewer } from '../view/viewer.ts';
import { earlierForm, earlierPage } from './earlier-minute.ts';
import { aboutEvent, stateChip } from './event-page.ts';
import { launchHtml } from './live-view.ts';

const SCOPES = ['events:read', 'tickets:read'] as const;
/** For all events: the figures of the installation. */
const OF_INSTALLATION = 'queue:read';
/** More tickets than these are stopped on the page of the tickets. */
const MOST_BUTTONS = 8;
const PATH = '/live/:eventId';

/** Adds the page of a live launch, and its stream of snapshots. */
export function addLivePages(app: FastifyInstance, context: ConsoleContext) {
  adder(app, context)(PATH, SCOPES, (request) => showLive(request, context));
  addStream(app, context, PATH, SCOPES, (eventId, operator, person) => {
    const isWhole = mayUse(operator, OF_INSTALLATION);
    const { language, format, words } = person;
    const may = ['queue:read', 'door:read'] as const;
    const rights = may.map((scope) => String(mayUse(operator, scope)));
    return {
      key: [eventId, language, format.zone, ...rights].join(' '),
      admits: (now) => may.every((scope) => mayUse(now, scope) === mayUse(operator, scope)),
      cannotRead: words.live.cannotRead,
      begin: () => context.installation.watch(),
      open: async () => {
        const event = await readBy(context, context.operations.eventShow, { eventId }, SHARED_PAGE);
        const viewer = { ...person, format: format.inZone(event.timeZone) };
        const follow = followWindow(context.db, { shardId: event.shardId, eventId: event.id });
        return async () => {
          const [tickets, window] = await Promise.all([ticketsOf(context, eventId), follow(new Date())]);
          return nowHtml(context, { tickets, window, operator, isWhole }, viewer);
        };
      },
    };
  });
}

const ticketsOf = (context: ConsoleContext, eventId: string) =>
  readBy(context, context.operations.ticketList, { eventId }, SHARED_PAGE);

interface Now {
  tickets: readonly DescribedTicket[];
  window: SaleWindow;
  operator: OperatorPrincipal;
  isWhole: boolean;
}

function nowHtml({ installation }: ConsoleContext, { operator, isWhole, ...figures }: Now, viewer: Viewer) {
  const { findings, processes, work, strangers } = installation.state();
  const notices = noticesOf(findingsFor(operator, findings), viewer);
  const running = processes?.running ?? [];
  const ofInstallation = isWhole
    ? { waiting: waitingOf(running), undeliveredMs: undeliveredMsOf(work), strangers }
    : undefined;
  return launchHtml({ ...figures, notices, installation: ofInstallation, isEarlier: false }, viewer);
}

async function showLive(request: PageRequest, context: ConsoleContext): Promise<Page> {
  const { operator, params, query, words, format } = request;
  const { eventId } = params;
  const event = await readBy(context, context.operations.eventShow, { eventId }, SHARED_PAGE);
  const tickets = await ticketsOf(context, eventId);
  const head = headOf(request, event, tickets);
  const viewer = { ...request.viewer, format };
  if (query['at']) return { ...head, parts: await earlierPage(request, event, tickets, query['at']) };
  const window = await readWindow(context.db, { shardId: event.shardId, eventId: event.id }, new Date());
  const isWhole = mayUse(operator, OF_INSTALLATION);
  const snapshot = nowHtml(context, { tickets, window, operator, isWhole }, viewer);
  return {
    ...head,
    actions: await actionsOf(request, event, tickets),
    parts: [liveHtml(`/live/${eventId}`, snapshot, words.live.old), earlierForm(request, event)],
  };
}

function headOf({ words, format }: PageRequest, event: Event, tickets: readonly DescribedTicket[]) {
  return {
    title: words.live.title(event.name),
    chips: stateChip(event, tickets, words, format),
    about: aboutEvent(event, words, format),
    path: [link('/', words.shell.pages.events), link(`/events/${event.id}`, event.name)],
    help: 'operate/launch',
  };
}

/** Returns the buttons at the top, for what cannot wait: stop first. */
async function actionsOf(
  { db, action, operations, words }: PageRequest,
  event: Event,
  tickets: readonly DescribedTicket[],
) {
  const { live } = words;
  const { id: eventId } = event;
  const [selling, stopped] = [
    tickets.filter(({ active }) => active),
    tickets.filter(({ active }) => !active),
  ];
  // A sale that ended for good is not offered again.
  const isOver = event.calledOffAt !== null || event.archivedAt !== null;
  const state = await findMailState(db, event);
  const danger = { kind: 'danger' } as const;
  return [
    selling.length > 0 ? action(operations.ticketStopAll, { eventId }, live.stopAll, danger) : NOTHING,
    ...selling.slice(0, MOST_BUTTONS).map(({ id: ticketId, title }) =>
      action(operations.ticketUpdate, { ticketId, active: false }, live.stopTicket(title), {
        part: 'switch',
        ...danger,
      }),
    ),
    event.stoppedTickets && !isOver
      ? action(operations.ticketResumeAll, { eventId }, live.resumeAll)
      : NOTHING,
    ...(isOver ? [] : stopped).slice(0, MOST_BUTTONS).map(({ id: ticketId, title }) =>
      action(operations.ticketUpdate, { ticketId, active: true }, live.resumeTicket(title), {
        part: 'resume',
      }),
    ),
    state === 'active' ? action(operations.mailPause, { eventId }, live.pauseMails) : NOTHING,
    state === 'paused' ? action(operations.mailResume, { eventId }, live.resumeMails) : NOTHING,
  ];
}
