import { mayUse, type Scope } from '@floodgate/operators';
import { sumSeats } from '@floodgate/tickets/console';
import { STATES } from '@floodgate/waiting-list/console';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { readBy, type ConsoleContext } from './operations.ts';
import { Refusal } from './problems.ts';
import { requireScope } from './principals.ts';
import { actionLink, actions, alertHtml, awayHtml, fields, link, sendPage, table, together } from './view.ts';
import type { Texts } from './view.ts';

/** A row of an operation's result. The pages show what the operation returns. */
// oxlint-disable-next-line typescript/no-explicit-any -- the pages show any value
export type Row = Record<string, any>;

/** A title, and the parts of a page as HTML. */
type Page = Promise<[title: string, ...parts: string[]]>;

function requestOf(request: FastifyRequest, scopes: readonly Scope[], context: ConsoleContext) {
  const operator = requireScope(request, ...scopes);
  const find = (id: string) => context.operations.get(id)!;
  return {
    operator,
    db: context.db,
    params: request.params as Record<'eventId' | 'ticketId' | 'partnerId' | 'webhookId', string>,
    query: request.query as Texts,
    /** Reads by an operation. Resolves to undefined if the operator lacks its scope. */
    read: async <Result>(id: string, given = {}) =>
      mayUse(operator, find(id).scope) ? readBy<Result>(context, id, given) : undefined,
    /** Returns a link to the form of an operation. */
    action: (id: string, given = {}, name?: string) =>
      actionLink(operator, find(id), { ...given, back: request.url }, name),
  };
}

type PageRequest = ReturnType<typeof requestOf>;

/** Returns a function that adds a page. */
export const adder =
  (app: FastifyInstance, context: ConsoleContext) =>
  (path: string, scopes: readonly Scope[], show: (request: PageRequest) => Page) =>
    app.get<{ Querystring: Texts }>(path, async (request, reply) => {
      const [title, ...parts] = await show(requestOf(request, scopes, context));
      const ended = context.operations.get(request.query['done'] ?? '')?.summary;
      if (ended) parts.unshift(html`<p role="status">Done: ${ended}</p>`);
      return sendPage(reply, title, ...parts);
    });

/** Adds the pages that show something. */
export function addPages(app: FastifyInstance, context: ConsoleContext): void {
  const add = adder(app, context);
  add('/', ['events:read'], launches);
  add('/events/:eventId', ['events:read'], oneEvent);
  add('/tickets/:ticketId/waiting-list', ['tickets:read'], waitingList);
  add('/registrations', ['registrations:read'], registrations);
  add('/partners', ['partners:read'], partners);
  add('/partners/:partnerId', ['partners:read'], onePartner);
  add('/deliveries', ['mail:read'], deliveries);
  add('/webhooks/:webhookId', ['webhooks:read'], oneWebhook);
  add('/failures', ['queue:read'], failures);
  add('/processes', ['queue:read'], processes);
  add('/operators', ['access:read'], operators);
  add('/audit', ['audit:read'], audit);
}

const without = (row: Row, ...names: string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

const eventLink = (id: number) => link(`/events/${id}`, id);

const NO_SEATS = { tickets: null, capacity: null, taken: null, left: null };

async function launches({ operator, db, query, read, action }: PageRequest): Page {
  const archived = query['archived'] === 'true';
  const [events = [], seats] = await Promise.all([
    read<Row[]>('eventList', { archived }),
    mayUse(operator, 'tickets:read') ? sumSeats(db) : new Map<number, never>(),
  ]);
  const rows = events.map(({ id, name, mode, startsAt }) => ({
    event: link(`/events/${id}`, name),
    mode,
    startsAt,
    ...(seats.get(id) ?? NO_SEATS),
    live: link(`/live/${id}`, 'Watch'),
  }));
  const other = archived ? link('/', 'Other events') : link('/?archived=true', 'Archived events');
  const title = archived ? 'Archived events' : 'Launches';
  return [title, actions(action('eventCreate'), other), table('Events', rows.toReversed())];
}

async function oneEvent({ operator, params: { eventId }, read, action }: PageRequest): Page {
  const event = (await read<Row>('eventShow', { eventId }))!;
  const [tickets, webhooks, mail] = await Promise.all([
    read<Row[]>('ticketList', { eventId }),
    read<Row[]>('webhookList', { eventId }),
    read<{ events: Row[] }>('mailStatus', { eventId }),
  ]);
  const webhookRows = webhooks?.map(
    ({ id, partnerId: partner, url, state, failures: failed, dateFailing }) => {
      return { webhook: link(`/webhooks/${id}`, id), partner, url, state, failures: failed, dateFailing };
    },
  );
  const forms = (...ids: string[]) => ids.map((id) => action(id, { eventId }));
  const mailForms = ['Enable', 'Pause', 'Resume', 'Disable'].map((name) =>
    action(`mail${name}`, { eventId }, name),
  );
  return [
    `Event ${eventId}: ${event['name']}`,
    actions(
      link(`/live/${eventId}`, 'Watch the launch'),
      link(`/events/${eventId}/door`, 'Doors'),
      ...forms('eventUpdate', 'eventNotifyHolders', event['archivedAt'] ? 'eventRestore' : 'eventArchive'),
    ),
    fields(event),
    table(
      'Tickets',
      tickets?.map((ticket) => ticketRow(ticket, action)),
    ),
    actions(...forms('ticketCreate', 'ticketStopAll', 'ticketResumeAll')),
    mayUse(operator, 'attendees:read')
      ? actions(
          link(`/attendees?eventId=${eventId}`, 'Find attendees'),
          link(`/operator/v1/events/${eventId}/attendees?format=csv`, 'Export the registrations as CSV'),
        )
      : '',
    table(
      'E-mails',
      mail?.events.map((row) => without(row, 'eventId', 'reasons')),
    ),
    actions(...mailForms, ...forms('mailResendAll')),
    table('Webhooks', webhookRows),
    actions(...forms('webhookCreate')),
    actions(...forms('eventGrant', 'eventRevoke')),
  ];
}

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
    ),
  };
}

async function waitingList({ params: { ticketId }, query, read, action }: PageRequest): Page {
  const { after, state } = query;
  const page = await read<{ entries: Row[]; cursor: string; more: boolean }>('waitingList', {
    ticketId,
    after,
    state,
  });
  const { entries, cursor, more } = page!;
  const rows = entries.map(({ partnerId, position: place, entry, ...row }) => ({
    place,
    partner: link(`/partners/${partnerId}`, partnerId),
    ...without(row, 'serial', 'eventId', 'organizedEventTicketID'),
    entry,
  }));
  const address = `/tickets/${ticketId}/waiting-list`;
  const next = `${address}?after=${cursor}${state ? `&state=${state}` : ''}`;
  return [
    `Waiting list of ticket ${ticketId}`,
    actions(
      action('ticketUpdate', { ticketId }, 'Change'),
      link(address, 'All'),
      ...STATES.map((one) => link(`${address}?state=${one}`, one)),
    ),
    table('Entries, those who joined first at first', rows),
    more ? actions(link(next, 'Next entries')) : '',
  ];
}

const searchForm = (text: string) =>
  html`<form class="fields" role="search" method="get" action="/registrations">
    <div class="field">
      <label for="passReference">Pass reference</label>
      <input id="passReference" name="passReference" value="${text}" autocomplete="off" required />
    </div>
    <p><button>Find</button></p>
  </form>`;

async function registrations({ query: { passReference = '' }, read, action }: PageRequest): Page {
  const search = ['Registrations', searchForm(passReference)] as const;
  if (passReference === '') return [...search, actions(action('passVerify'))];
  const found = await read<object>('registrationShow', { passReference });
  const attendee = await read<object>('attendeeShow', { passReference });
  const changes = ['mailResend', 'registrationCorrect', 'registrationCancel'];
  return [
    ...search,
    fields(found!),
    attendee ? `<h2>Attendee</h2>${fields(attendee)}` : '',
    actions(...changes.map((id) => action(id, { passReference }))),
  ];
}

async function partners({ read, action }: PageRequest): Page {
  const all = await read<Row[]>('partnerList');
  const rows = all?.map(({ id, name, ...rest }) => ({ id, partner: link(`/partners/${id}`, name), ...rest }));
  return ['Partners', actions(action('partnerCreate')), table('Partners', rows)];
}

async function onePartner({ params: { partnerId }, read, action }: PageRequest): Page {
  const partner = (await read<Row[]>('partnerList'))?.find(({ id }) => String(id) === partnerId);
  if (!partner) throw new Refusal(404, 'No such partner');
  const keys = await read<Row[]>('keyList', { partnerId });
  const rows = keys?.map(({ keyId, partnerId: _partner, ...key }) => ({
    keyId,
    ...key,
    actions: together(
      action('keyRotate', { keyId, overlapMs: 86_400_000 }, 'Rotate'),
      action('keyRevoke', { keyId }, 'Revoke'),
    ),
  }));
  const changes = ['Contact', 'Limit', 'Weigh', 'Disable'];
  return [
    `Partner ${partnerId}: ${partner['name']}`,
    fields(partner),
    actions(...changes.map((name) => action(`partner${name}`, { partnerId }))),
    table('Keys', rows),
    actions(action('keyIssue', { partnerId })),
  ];
}

async function deliveries({ read, action }: PageRequest): Page {
  const [mail, suppressions, backlog] = await Promise.all([
    read<{ events: Row[] }>('mailStatus'),
    read<Row[]>('suppressionList'),
    read<{ deliveries: Record<string, Row> }>('backlogShow'),
  ]);
  const { shardsAway = [], ...kinds } = backlog?.deliveries ?? {};
  const lags = Object.entries(kinds).map(([kind, lag]) => ({ kind, ...lag }));
  const mailRows = mail?.events.map(({ eventId, reasons: _reasons, ...row }) => ({
    event: eventLink(eventId),
    ...row,
  }));
  const suppressed = suppressions?.map((row) => ({
    ...row,
    actions: action('mailUnsuppress', { address: row['digest'] }, 'Send again'),
  }));
  return [
    'Deliveries',
    awayHtml(shardsAway as number[]),
    actions(action('mailTest')),
    table('Readers of the journal', lags),
    table('E-mails by event', mailRows),
    table('Addresses that get no e-mails', suppressed),
  ];
}

async function oneWebhook({ params: { webhookId }, read, action }: PageRequest): Page {
  const webhook = (await read<Row>('webhookShow', { webhookId }))!;
  const attempts = await read<Row[]>('webhookAttempts', { webhookId });
  const changes = ['Pause', 'Resume', 'Test', 'Replay', 'Update', 'Rotate', 'Delete'];
  return [
    `Webhook of partner ${webhook['partnerId']}`,
    actions(...changes.map((name) => action(`webhook${name}`, { webhookId }, name))),
    fields(webhook),
    table('Latest attempts', attempts),
  ];
}

async function failures({ read, action }: PageRequest): Page {
  const [batches, mail] = await Promise.all([
    read<{ failed: Row[]; away: number[] }>('batchFailed'),
    read<{ events: Row[] }>('mailStatus'),
  ]);
  const rows = batches?.failed.map(({ reason, batchId, eventIds, registrations: count, failedAt }) => ({
    reason,
    batch: batchId,
    events: eventIds,
    registrations: count,
    failedAt,
    actions: action('batchRedrive', { batchIds: batchId }, 'Redrive'),
  }));
  const reasons = mail?.events.flatMap(({ eventId, reasons: counts }) =>
    Object.entries(counts as object).map(([reason, count]) => {
      return { reason, event: eventLink(eventId), 'e-mails': count as number };
    }),
  );
  return [
    'Failures',
    awayHtml(batches?.away),
    table('Failed batches', rows),
    rows?.length ? actions(action('batchRedrive', {}, 'Redrive all')) : '',
    table('E-mails that were not delivered', reasons),
  ];
}

async function processes({ read }: PageRequest): Page {
  const [running = [], backlog = {}] = await Promise.all([
    read<Row[]>('processList'),
    read<Row>('backlogShow'),
  ]);
  const services = new Set(running.map(({ service }) => service));
  const missing = ['api', 'worker', 'delivery'].filter((name) => !services.has(name));
  return [
    'Processes',
    alertHtml(missing.length > 0 ? `No process reports as: ${missing.join(', ')}` : ''),
    table(
      'Running processes',
      running.map((row) => without(row, 'id')),
    ),
    `<h2>Waiting for finalization</h2>${fields(without(backlog, 'deliveries'))}`,
  ];
}

async function operators({ read, action }: PageRequest): Page {
  const [people, open] = await Promise.all([read<Row[]>('operatorList'), read<Row[]>('accessList')]);
  const peopleRows = people?.map(({ id: _id, name, ...rest }) => ({
    name,
    ...rest,
    actions: together(
      action('operatorUpdate', { name }, 'Change'),
      action('operatorResetPassword', { name }, 'Reset password'),
      action('operatorSignOut', { name }, 'Sign out'),
    ),
  }));
  const openRows = open?.map((row) => ({
    ...row,
    actions: action('accessRevoke', { accessId: row['id'] }, 'Revoke'),
  }));
  return [
    'Operators',
    table('Operators', peopleRows),
    actions(action('operatorCreate'), action('tokenCreate')),
    table('Open sessions and tokens', openRows),
  ];
}

async function audit({ query: { subject }, read }: PageRequest): Page {
  const entries = await read<Row[]>('auditList', { limit: 200, subject });
  const rows = entries?.map(({ id: _id, subject: of, ...entry }) => ({
    subject: link(`/audit?subject=${encodeURIComponent(of)}`, of),
    ...entry,
  }));
  return ['Audit', table(subject ? `Changes of ${subject}` : 'Latest changes', rows)];
}
