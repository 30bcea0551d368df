import { sumSeats, type DescribedTicket } from '@floodgate/tickets/console';
import { STATES } from '@floodgate/waiting-list/console';
import type { FastifyInstance } from 'fastify';
import { adder, type PageRequest, type Show } from './add-page.ts';
import { mailCells } from './delivery-pages.ts';
import type { ConsoleContext } from './operations.ts';
import { actions, cellsOf, fields, link, table, together } from './view.ts';

/** Adds the pages of events and their tickets. */
export function addEventPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  add('/', ['events:read'], showLaunches);
  add('/events/:eventId', ['events:read'], showEvent);
  add('/tickets/:ticketId/waiting-list', ['tickets:read'], showWaitingList);
  add('/tickets/:ticketId/allocations', ['tickets:read'], showAllocations);
}

const NO_SEATS = { tickets: null, capacity: null, taken: null, left: null };

const showLaunches: Show = async ({ may, operations, db, query, read, action }) => {
  const archived = query['archived'] === 'true';
  const [events = [], seats] = await Promise.all([
    read(operations.eventList, { archived }),
    may('tickets:read') ? sumSeats(db) : new Map<number, never>(),
  ]);
  const other = archived ? link('/', 'Other events') : link('/?archived=true', 'Archived events');
  return [
    archived ? 'Archived events' : 'Launches',
    actions(action(operations.eventCreate, {}), other),
    table('Events', events.toReversed(), ({ id, name, mode, startsAt }) => {
      const ofEvent = seats.get(id);
      return {
        event: link(`/events/${id}`, name),
        mode,
        startsAt,
        ...(ofEvent ? cellsOf(ofEvent, 'tickets', 'capacity', 'taken', 'left') : NO_SEATS),
        live: link(`/live/${id}`, 'Watch'),
      };
    }),
  ];
};

const OF_EVENT = [
  'id',
  'ref',
  'shardId',
  'name',
  'passPrefix',
  'mode',
  'duplicatePolicy',
  'duplicateScope',
  'cancelUntil',
  'startsAt',
  'endsAt',
  'venue',
  'timeZone',
  'language',
  'replyTo',
  'currency',
  'mailOperatorCancels',
  'mailPartnerCancels',
  'revision',
  'createdAt',
  'archivedAt',
  'stoppedTickets',
  'calledOffAt',
] as const;

const showEvent: Show = async ({ may, operations, params: { eventId }, read, action }) => {
  const event = (await read(operations.eventShow, { eventId }))!;
  const [tickets, webhooks, mail] = await Promise.all([
    read(operations.ticketList, { eventId }),
    read(operations.webhookList, { eventId }),
    read(operations.mailStatus, { eventId }),
  ]);
  const ofAttendees = [
    link(`/attendees?eventId=${eventId}`, 'Find attendees'),
    link(`/operator/v1/events/${eventId}/attendees?format=csv`, 'Export the registrations as CSV'),
  ];
  return [
    `Event ${eventId}: ${event.name}`,
    actions(
      link(`/live/${eventId}`, 'Watch the launch'),
      link(`/events/${eventId}/door`, 'Doors'),
      action(operations.eventUpdate, { eventId }),
      action(operations.eventNotifyHolders, { eventId }),
      action(event.archivedAt ? operations.eventRestore : operations.eventArchive, { eventId }),
    ),
    fields(cellsOf(event, ...OF_EVENT)),
    table('Tickets', tickets, (ticket) => ticketCells(ticket, maySell(event), operations, action)),
    actions(
      action(operations.ticketCreate, { eventId }),
      action(operations.ticketStopAll, { eventId }),
      ...(maySell(event) ? [action(operations.ticketResumeAll, { eventId })] : []),
      action(operations.guestAdd, { eventId }, 'Register a guest'),
      action(operations.guestImport, { eventId }, 'Import a guest list'),
    ),
    may('attendees:read') ? actions(...ofAttendees) : '',
    table('E-mails', mail?.events, mailCells),
    actions(
      action(operations.mailEnable, { eventId }, 'Enable'),
      action(operations.mailPause, { eventId }, 'Pause'),
      action(operations.mailResume, { eventId }, 'Resume'),
      action(operations.mailDisable, { eventId }, 'Disable'),
      action(operations.mailResendAll, { eventId }),
    ),
    table('Webhooks', webhooks, ({ id, partnerId: partner, url, state, failures, dateFailing }) => ({
      webhook: link(`/webhooks/${id}`, id),
      partner,
      url,
      state,
      failures,
      dateFailing,
    })),
    actions(action(operations.webhookCreate, { eventId })),
    actions(action(operations.eventGrant, { eventId }), action(operations.eventRevoke, { eventId })),
  ];
};

/** The end of an event's sale. Null: it goes on. */
interface SaleEnd {
  archivedAt: Date | null;
  calledOffAt: Date | null;
}

/** Returns whether tickets of an event can go on sale. */
export const maySell = ({ archivedAt, calledOffAt }: SaleEnd) => archivedAt === null && calledOffAt === null;

function ticketCells(
  ticket: DescribedTicket,
  isResumable: boolean,
  operations: PageRequest['operations'],
  action: PageRequest['action'],
) {
  const { id: ticketId, active, waiting, offerHours } = ticket;
  const sale = () =>
    action(operations.ticketUpdate, { ticketId, active: !active }, active ? 'Stop sale' : 'Resume sale');
  return {
    ...cellsOf(ticket, 'id', 'title', 'price', 'active', 'capacity', 'saleStartsAt', 'saleEndsAt'),
    waiting: waiting || offerHours ? link(`/tickets/${ticketId}/waiting-list`, waiting) : waiting,
    ...cellsOf(ticket, 'taken', 'allocated', 'left'),
    actions: together(
      ...(active || isResumable ? [sale()] : []),
      action(operations.ticketUpdate, { ticketId }, 'Change'),
      link(`/tickets/${ticketId}/allocations`, 'Allocations'),
    ),
  };
}

const showWaitingList: Show = async ({ operations, params: { ticketId }, query, read, action }) => {
  const { after, state } = query;
  const { entries, cursor, more } = (await read(operations.waitingList, { ticketId, after, state }))!;
  const address = `/tickets/${ticketId}/waiting-list`;
  const next = `${address}?after=${cursor}${state ? `&state=${state}` : ''}`;
  return [
    `Waiting list of ticket ${ticketId}`,
    actions(
      action(operations.ticketUpdate, { ticketId }, 'Change'),
      link(address, 'All'),
      ...STATES.map((one) => link(`${address}?state=${one}`, one)),
    ),
    table('Entries, those who joined first at first', entries, (entry) => ({
      place: entry.position,
      partner: link(`/partners/${entry.partnerId}`, entry.partnerId),
      ...cellsOf(
        entry,
        'seats',
        'partnerReference',
        'state',
        'skipped',
        'dateJoined',
        'dateExpires',
        'entry',
      ),
    })),
    more ? actions(link(next, 'Next entries')) : '',
  ];
};

const showAllocations: Show = async ({ operations, params: { ticketId }, read, action }) => [
  `Allocations of ticket ${ticketId}`,
  actions(action(operations.ticketAllocate, { ticketId })),
  table('Allocations', await read(operations.ticketAllocations, { ticketId }), (allocation) =>
    cellsOf(allocation, 'ticketId', 'partnerId', 'reserved', 'cap', 'releasesAt', 'taken', 'unsold'),
  ),
];
