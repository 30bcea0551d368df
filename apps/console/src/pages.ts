import { differencesOf, readAuditLog, type AuditEntry } from '@floodgate/audit';
import { mayUse, type Operation, type Scope } from '@floodgate/operators';
import { sumSeats } from '@floodgate/tickets/console';
import { STATES } from '@floodgate/waiting-list/console';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { readBy, type ConsoleContext } from './operations.ts';
import { Refusal, requireScope } from './principals.ts';
import { shownTo } from './shown-to.ts';
import {
  actionLink,
  actions,
  alertHtml,
  awayHtml,
  eventLink,
  fields,
  inputField,
  link,
  sendPage,
  table,
  together,
  wordsOf,
  type Row,
  type Texts,
} from './view.ts';

function requestOf(request: FastifyRequest, scopes: readonly Scope[], context: ConsoleContext) {
  const operator = requireScope(request, ...scopes);
  const find = (id: string) => context.operations.get(id)!;
  return {
    operator,
    db: context.db,
    params: request.params as Record<'eventId' | 'ticketId' | 'partnerId' | 'webhookId', string>,
    query: request.query as Texts,
    /** Reads by an operation. Resolves to undefined if the operator lacks its scope. */
    read: async <Result = Row[]>(id: string, given = {}) =>
      mayUse(operator, find(id).scope)
        ? shownTo(operator, await readBy<Result>(context, id, given, operator))
        : undefined,
    /** Returns a link to the form of an operation. */
    action: (id: string, given = {}, name?: string) =>
      actionLink(operator, find(id), { ...given, back: request.url }, name),
  };
}

export type PageRequest = ReturnType<typeof requestOf>;

/** Resolves to a title, and the parts of a page as HTML. */
type Show = (request: PageRequest) => Promise<[title: string, ...parts: string[]]>;

/** Returns a function that adds a page. */
export const adder =
  (app: FastifyInstance, context: ConsoleContext) => (path: string, scopes: readonly Scope[], show: Show) =>
    app.get<{ Querystring: Texts }>(path, async (request, reply) => {
      const page = requestOf(request, scopes, context);
      const [title, ...parts] = await show(page);
      const ended = context.operations.get(String(request.query['done']));
      if (ended) parts.unshift(doneHtml(ended.summary, await latestChange(page, ended)));
      return sendPage(reply, title, ...parts);
    });

/** The page after a form shows what the form has saved. */
const LATEST_MS = 60_000;

async function latestChange({ db, operator }: PageRequest, { action }: Operation) {
  if (action === undefined || !mayUse(operator, 'audit:read')) return undefined;
  const since = new Date(Date.now() - LATEST_MS);
  const [latest] = await readAuditLog(db, { actor: operator.name, action, since, limit: 1 });
  return latest;
}

function doneHtml(summary: string, change?: AuditEntry) {
  const saved = (change ? differencesOf(change) : []).map(({ name, was, is, isNew }) => {
    return { setting: wordsOf(name), ...(!isNew && { before: was }), saved: is };
  });
  return html`<p role="status">Done: ${summary}</p>
    !${saved.length > 0 ? table(`Saved: ${change!.subject}`, saved) : ''}`;
}

const without = (row: Row, ...names: string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

const NO_SEATS = { tickets: null, capacity: null, taken: null, left: null };

/** Fields of a ticket that the page of its event does not show. */
const OF_TICKET = ['eventId', 'benefits', 'offerHours', 'waitingClosesAt', 'createdAt', 'lastModifiedAt'];

function ticketRow(ticket: Row, action: PageRequest['action']) {
  const { id: ticketId, active, waiting, offerHours } = ticket;
  return {
    ...without(ticket, ...OF_TICKET, 'lastModifiedBy'),
    waiting: waiting || offerHours ? link(`/tickets/${ticketId}/waiting-list`, waiting) : waiting,
    actions: together(
      action('ticketUpdate', { ticketId, active: !active }, active ? 'Stop sale' : 'Resume sale'),
      action('ticketUpdate', { ticketId }, 'Change'),
      link(`/tickets/${ticketId}/allocations`, 'Allocations'),
    ),
  };
}

const searchForm = (text: string) =>
  html`<form class="fields" role="search" method="get" action="/registrations">
    !${inputField('passReference', html`value="${text}" autocomplete="off" required`)}
    <p><button>Find</button></p>
  </form>`;

/** The pages that show something, each by the scope that it requires and its path. */
const PAGES: Record<`${Scope} /${string}`, Show> = {
  async 'events:read /'({ operator, db, query, read, action }) {
    const archived = query['archived'] === 'true';
    const [events = [], seats] = await Promise.all([
      read('eventList', { archived }),
      mayUse(operator, 'tickets:read') ? sumSeats(db) : new Map<number, never>(),
    ]);
    const other = archived ? link('/', 'Other events') : link('/?archived=true', 'Archived events');
    return [
      archived ? 'Archived events' : 'Launches',
      actions(action('eventCreate'), other),
      table('Events', events.toReversed(), ({ id, name, mode, startsAt }) => ({
        event: link(`/events/${id}`, name),
        mode,
        startsAt,
        ...(seats.get(id) ?? NO_SEATS),
        live: link(`/live/${id}`, 'Watch'),
      })),
    ];
  },

  async 'events:read /events/:eventId'({ operator, params: { eventId }, read, action }) {
    const event = (await read<Row>('eventShow', { eventId }))!;
    const [tickets, webhooks, mail] = await Promise.all([
      read('ticketList', { eventId }),
      read('webhookList', { eventId }),
      read<{ events: Row[] }>('mailStatus', { eventId }),
    ]);
    const forms = (...ids: string[]) => ids.map((id) => action(id, { eventId }));
    const mailForms = ['Enable', 'Pause', 'Resume', 'Disable'].map((name) =>
      action(`mail${name}`, { eventId }, name),
    );
    const ofAttendees = [
      link(`/attendees?eventId=${eventId}`, 'Find attendees'),
      link(`/operator/v1/events/${eventId}/attendees?format=csv`, 'Export the registrations as CSV'),
    ];
    return [
      `Event ${eventId}: ${event['name']}`,
      actions(
        link(`/live/${eventId}`, 'Watch the launch'),
        link(`/events/${eventId}/door`, 'Doors'),
        ...forms('eventUpdate', 'eventNotifyHolders', event['archivedAt'] ? 'eventRestore' : 'eventArchive'),
      ),
      fields(event),
      table('Tickets', tickets, (ticket) => ticketRow(ticket, action)),
      actions(...forms('ticketCreate', 'ticketStopAll', 'ticketResumeAll')),
      mayUse(operator, 'attendees:read') ? actions(...ofAttendees) : '',
      table('E-mails', mail?.events, (row) => without(row, 'eventId', 'reasons')),
      actions(...mailForms, ...forms('mailResendAll')),
      table('Webhooks', webhooks, ({ id, partnerId: partner, url, state, failures, dateFailing }) => ({
        webhook: link(`/webhooks/${id}`, id),
        partner,
        url,
        state,
        failures,
        dateFailing,
      })),
      actions(...forms('webhookCreate')),
      actions(...forms('eventGrant', 'eventRevoke')),
    ];
  },

  async 'tickets:read /tickets/:ticketId/waiting-list'({ params: { ticketId }, query, read, action }) {
    const { after, state } = query;
    const page = await read<{ entries: Row[] } & Row>('waitingList', { ticketId, after, state });
    const { entries, cursor, more } = page!;
    const address = `/tickets/${ticketId}/waiting-list`;
    const next = `${address}?after=${cursor}${state ? `&state=${state}` : ''}`;
    return [
      `Waiting list of ticket ${ticketId}`,
      actions(
        action('ticketUpdate', { ticketId }, 'Change'),
        link(address, 'All'),
        ...STATES.map((one) => link(`${address}?state=${one}`, one)),
      ),
      table(
        'Entries, those who joined first at first',
        entries,
        ({ partnerId, position, entry, ...row }) => ({
          place: position,
          partner: link(`/partners/${partnerId}`, partnerId),
          ...without(row, 'serial', 'eventId', 'organizedEventTicketID'),
          entry,
        }),
      ),
      more ? actions(link(next, 'Next entries')) : '',
    ];
  },

  async 'tickets:read /tickets/:ticketId/allocations'({ params: { ticketId }, read, action }) {
    return [
      `Allocations of ticket ${ticketId}`,
      actions(action('ticketAllocate', { ticketId })),
      table('Allocations', await read('ticketAllocations', { ticketId })),
    ];
  },

  async 'registrations:read /registrations'({ query: { passReference = '' }, read, action }) {
    const search = ['Registrations', searchForm(passReference)] as const;
    if (passReference === '') return [...search, actions(action('passVerify'))];
    const found = await read<Row>('registrationShow', { passReference });
    const attendee = await read<Row>('attendeeShow', { passReference });
    const changes = ['mailResend', 'registrationCorrect', 'registrationReplace', 'registrationCancel'];
    return [
      ...search,
      fields(found!),
      attendee ? `<h2>Attendee</h2>${fields(attendee)}` : '',
      actions(...changes.map((id) => action(id, { passReference }))),
    ];
  },

  async 'partners:read /partners'({ read, action }) {
    return [
      'Partners',
      actions(action('partnerCreate')),
      table('Partners', await read('partnerList'), ({ id, name, ...rest }) => {
        return { id, partner: link(`/partners/${id}`, name), ...rest };
      }),
    ];
  },

  async 'partners:read /partners/:partnerId'({ params: { partnerId }, read, action }) {
    const partner = (await read('partnerList'))?.find(({ id }) => String(id) === partnerId);
    if (!partner) throw new Refusal(404, 'No such partner');
    const changes = ['Contact', 'Limit', 'Weigh', 'Disable'];
    return [
      `Partner ${partnerId}: ${partner['name']}`,
      fields(partner),
      actions(...changes.map((name) => action(`partner${name}`, { partnerId }))),
      table('Keys', await read('keyList', { partnerId }), ({ keyId, ...key }) => ({
        keyId,
        ...without(key, 'partnerId'),
        actions: together(
          action('keyRotate', { keyId, overlapMs: 86_400_000 }, 'Rotate'),
          action('keyRevoke', { keyId }, 'Revoke'),
        ),
      })),
      actions(action('keyIssue', { partnerId })),
    ];
  },

  async 'mail:read /deliveries'({ read, action }) {
    const [mail, suppressions, backlog] = await Promise.all([
      read<{ events: Row[] }>('mailStatus'),
      read('suppressionList'),
      read<{ deliveries: Row }>('backlogShow'),
    ]);
    const { shardsAway, ...kinds } = backlog?.deliveries ?? {};
    return [
      'Deliveries',
      awayHtml(shardsAway),
      actions(action('mailTest')),
      table('Readers of the journal', Object.entries<Row>(kinds), ([kind, lag]) => ({ kind, ...lag })),
      table('E-mails by event', mail?.events, ({ eventId, ...row }) => {
        return { event: eventLink(eventId), ...without(row, 'reasons') };
      }),
      table('Addresses that get no e-mails', suppressions, (row) => {
        return { ...row, actions: action('mailUnsuppress', { address: row['digest'] }, 'Send again') };
      }),
    ];
  },

  async 'webhooks:read /webhooks/:webhookId'({ params: { webhookId }, read, action }) {
    const webhook = (await read<Row>('webhookShow', { webhookId }))!;
    const changes = ['Pause', 'Resume', 'Test', 'Replay', 'Update', 'Rotate', 'Delete'];
    return [
      `Webhook of partner ${webhook['partnerId']}`,
      actions(...changes.map((name) => action(`webhook${name}`, { webhookId }, name))),
      fields(webhook),
      table('Latest attempts', await read('webhookAttempts', { webhookId })),
    ];
  },

  async 'queue:read /failures'({ read, action }) {
    const [batches, mail] = await Promise.all([
      read<{ failed: Row[]; away: number[] }>('batchFailed'),
      read<{ events: Row[] }>('mailStatus'),
    ]);
    const reasons = mail?.events.flatMap(({ eventId, reasons: counts }) =>
      Object.entries<number>(counts).map(([reason, count]) => {
        return { reason, event: eventLink(eventId), 'e-mails': count };
      }),
    );
    return [
      'Failures',
      awayHtml(batches?.away),
      table('Failed batches', batches?.failed, ({ reason, batchId, eventIds, ...batch }) => ({
        reason,
        batch: batchId,
        events: eventIds,
        registrations: batch['registrations'],
        failedAt: batch['failedAt'],
        actions: action('batchRedrive', { batchIds: batchId }, 'Redrive'),
      })),
      batches?.failed.length ? actions(action('batchRedrive', {}, 'Redrive all')) : '',
      table('E-mails that were not delivered', reasons),
    ];
  },

  async 'queue:read /processes'({ read }) {
    const [running = [], backlog = {}] = await Promise.all([read('processList'), read<Row>('backlogShow')]);
    const services = new Set(running.map(({ service }) => service));
    const missing = ['api', 'worker', 'delivery'].filter((name) => !services.has(name));
    return [
      'Processes',
      alertHtml(missing.length > 0 ? `No process reports as: ${missing.join(', ')}` : ''),
      table('Running processes', running, (row) => without(row, 'id')),
      `<h2>Waiting for finalization</h2>${fields(without(backlog, 'deliveries'))}`,
    ];
  },

  async 'access:read /operators'({ read, action }) {
    const [people, open] = await Promise.all([read('operatorList'), read('accessList')]);
    return [
      'Operators',
      table('Operators', people, ({ name, ...rest }) => ({
        name,
        ...without(rest, 'id'),
        actions: together(
          action('operatorUpdate', { name }, 'Change'),
          action('operatorResetPassword', { name }, 'Reset password'),
          action('operatorSignOut', { name }, 'Sign out'),
        ),
      })),
      actions(action('operatorCreate'), action('tokenCreate')),
      table('Open sessions and tokens', open, (row) => {
        return { ...row, actions: action('accessRevoke', { accessId: row['id'] }, 'Revoke') };
      }),
    ];
  },

  async 'audit:read /audit'({ query: { subject }, read }) {
    const entries = await read('auditList', { limit: 200, subject });
    return [
      'Audit',
      table(subject ? `Changes of ${subject}` : 'Latest changes', entries, ({ subject: of, ...entry }) => ({
        subject: link(`/audit?subject=${encodeURIComponent(of)}`, of),
        ...without(entry, 'id'),
      })),
    ];
  },
};

/** Adds the pages that show something. */
export function addPages(app: FastifyInstance, context: ConsoleContext) {
  for (const [key, show] of Object.entries(PAGES)) {
    const [scope, path] = key.split(' ') as [Scope, string];
    adder(app, context)(path, [scope], show);
  }
}
