import { mayUse, type OperationContext, type OperatorPrincipal, type Scope } from '@floodgate/operators';
import { sumSeats } from '@floodgate/tickets/console';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import type { Operations } from './operations.ts';
import { Refusal } from './problems.ts';
import { requireScope } from './principals.ts';
import { actionLink, awayHtml, fields, link, raw, sendPage, table } from './view.ts';

/** A row of an operation's result. The pages show what the operation returns. */
// oxlint-disable-next-line typescript/no-explicit-any -- the pages show any value
export type Row = Record<string, any>;

export interface PageRequest {
  operator: OperatorPrincipal;
  params: Record<string, string>;
  query: Record<string, string>;
  /** Reads by an operation. Resolves to undefined if the operator lacks its scope. */
  read<Result>(id: string, input?: Record<string, unknown>): Promise<Result | undefined>;
  /** Returns a link to the form of an operation. */
  action(id: string, given?: Record<string, unknown>, name?: string): ReturnType<typeof raw>;
}

export interface Content {
  title: string;
  /** HTML. */
  main: string;
}

/** Returns a function that adds a page. */
export const adder =
  (app: FastifyInstance, operations: Operations, context: OperationContext) =>
  (path: string, scope: Scope, show: (request: PageRequest) => Promise<Content>) =>
    app.get(path, async (request: FastifyRequest, reply) => {
      const operator = requireScope(request, scope);
      const { done = '', ...query } = request.query as Record<string, string>;
      const ended = operations.get(done)?.summary;
      const content = await show({
        operator,
        params: request.params as Record<string, string>,
        query,
        read: async <Result>(id: string, input = {}) => {
          const operation = operations.get(id)!;
          if (!mayUse(operator, operation.scope)) return undefined;
          return (await operation.run(context, input, operator.name)) as Result;
        },
        action: (id, given = {}, name) =>
          actionLink(operator, operations.get(id)!, { ...given, back: request.url }, name),
      });
      const main = (ended ? html`<p role="status">Done: ${ended}</p>` : '') + content.main;
      return sendPage(reply, content.title, main);
    });

/** Adds the pages that show something. */
export function addPages(app: FastifyInstance, operations: Operations, context: OperationContext): void {
  const add = adder(app, operations, context);
  add('/', 'events:read', (request) => launches(request, context));
  add('/events/:eventId', 'events:read', oneEvent);
  add('/tickets/:ticketId/waiting-list', 'tickets:read', waitingList);
  add('/registrations', 'registrations:read', registrations);
  add('/partners', 'partners:read', partners);
  add('/partners/:partnerId', 'partners:read', onePartner);
  add('/deliveries', 'mail:read', deliveries);
  add('/webhooks/:webhookId', 'webhooks:read', oneWebhook);
  add('/failures', 'queue:read', failures);
  add('/processes', 'queue:read', processes);
  add('/operators', 'access:read', operators);
  add('/audit', 'audit:read', audit);
}

export const actions = (...links: { html: string }[]) => {
  const shown = links.map((one) => one.html).filter(Boolean);
  return shown.length > 0 ? html`<p class="actions">!${shown.join(' ')}</p>` : '';
};

const without = (row: Row, ...names: string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

const together = (...links: { html: string }[]) => raw(links.map((one) => one.html).join(' '));

const NO_SEATS = { tickets: null, capacity: null, taken: null, left: null };

async function launches(
  { operator, query, read, action }: PageRequest,
  { db }: OperationContext,
): Promise<Content> {
  const archived = query['archived'] === 'true';
  const [events = [], seats] = await Promise.all([
    read<Row[]>('eventList', { archived }),
    mayUse(operator, 'tickets:read') ? sumSeats(db) : new Map<number, never>(),
  ]);
  const rows = events.map(({ id, name, mode, startsAt }) => {
    const sums = seats.get(id) ?? NO_SEATS;
    return {
      event: link(`/events/${id}`, name),
      mode,
      startsAt,
      ...sums,
      live: link(`/live/${id}`, 'Watch'),
    };
  });
  const other = archived ? link('/', 'Other events') : link('/?archived=true', 'Archived events');
  const main = actions(action('eventCreate'), other) + table('Events', rows.toReversed());
  return { title: archived ? 'Archived events' : 'Launches', main };
}

async function oneEvent({ operator, params, read, action }: PageRequest): Promise<Content> {
  const eventId = Number(params['eventId']);
  const event = await read<Row>('eventShow', { eventId });
  const [tickets, webhooks, mail] = await Promise.all([
    read<Row[]>('ticketList', { eventId }),
    read<Row[]>('webhookList', { eventId }),
    read<{ events: Row[] }>('mailStatus', { eventId }),
  ]);
  const ticketRows = tickets?.map((ticket) => ticketRow(ticket, action));
  const webhookRows = webhooks?.map(({ id, partnerId, url, state, failures: failed, dateFailing }) => {
    const webhook = link(`/webhooks/${id}`, id);
    return { webhook, partner: partnerId, url, state, failures: failed, dateFailing };
  });
  const mailRows = mail?.events.map((row) => without(row, 'eventId', 'reasons'));
  const mailLinks = ['Enable', 'Pause', 'Resume', 'Disable'].map((name) =>
    action(`mail${name}`, { eventId }, name),
  );
  mailLinks.push(action('mailResendAll', { eventId }));
  const main = [
    actions(
      link(`/live/${eventId}`, 'Watch the launch'),
      link(`/events/${eventId}/door`, 'Doors'),
      action('eventUpdate', { eventId }),
      action('eventNotifyHolders', { eventId }),
      action(event!['archivedAt'] ? 'eventRestore' : 'eventArchive', { eventId }),
    ),
    fields(event!),
    table('Tickets', ticketRows),
    actions(
      action('ticketCreate', { eventId }),
      action('ticketStopAll', { eventId }),
      action('ticketResumeAll', { eventId }),
    ),
    mayUse(operator, 'attendees:read')
      ? actions(
          link(`/attendees?eventId=${eventId}`, 'Find attendees'),
          link(`/operator/v1/events/${eventId}/attendees?format=csv`, 'Export the registrations as CSV'),
        )
      : '',
    table('E-mails', mailRows),
    actions(...mailLinks),
    table('Webhooks', webhookRows),
    actions(action('webhookCreate', { eventId })),
    actions(action('eventGrant', { eventId }), action('eventRevoke', { eventId })),
  ];
  return { title: `Event ${eventId}: ${event!['name']}`, main: main.join('\n') };
}

function ticketRow(ticket: Row, action: PageRequest['action']) {
  const { id, active, waiting, offerHours } = ticket;
  return {
    ...without(
      ticket,
      'eventId',
      'benefits',
      'offerHours',
      'waitingClosesAt',
      'createdAt',
      'lastModifiedAt',
      'lastModifiedBy',
    ),
    waiting: waiting || offerHours ? link(`/tickets/${id}/waiting-list`, String(waiting)) : waiting,
    actions: together(
      action('ticketUpdate', { ticketId: id, active: !active }, active ? 'Stop sale' : 'Resume sale'),
      action('ticketUpdate', { ticketId: id }, 'Change'),
    ),
  };
}

async function waitingList({ params, query, read, action }: PageRequest): Promise<Content> {
  const ticketId = Number(params['ticketId']);
  const { after = 0, state } = query;
  const page = await read<{ entries: Row[]; cursor: string; more: boolean }>('waitingList', {
    ticketId,
    after: Number(after),
    ...(state && { state }),
  });
  const rows = page!.entries.map(({ partnerId, entry, ...row }) => ({
    place: row['position'],
    partner: link(`/partners/${partnerId}`, partnerId),
    ...without(row, 'position', 'serial', 'eventId', 'organizedEventTicketID'),
    entry,
  }));
  const address = `/tickets/${ticketId}/waiting-list`;
  const states = ['waiting', 'offered', 'confirmed', 'expired', 'left'];
  const main = [
    actions(
      action('ticketUpdate', { ticketId }, 'Change'),
      link(address, 'All'),
      ...states.map((one) => link(`${address}?state=${one}`, one)),
    ),
    table('Entries, those who joined first at first', rows),
    page!.more
      ? actions(link(`${address}?after=${page!.cursor}${state ? `&state=${state}` : ''}`, 'Next entries'))
      : '',
  ];
  return { title: `Waiting list of ticket ${ticketId}`, main: main.join('\n') };
}

const searchForm = (text: string) =>
  html`<form class="fields" role="search" method="get" action="/registrations">
    <div class="field">
      <label for="passReference">Pass reference</label>
      <input id="passReference" name="passReference" value="${text}" autocomplete="off" required />
    </div>
    <p><button>Find</button></p>
  </form>`;

async function registrations({ query, read, action }: PageRequest): Promise<Content> {
  const { passReference = '' } = query;
  const title = 'Registrations';
  if (passReference === '') return { title, main: searchForm('') + actions(action('passVerify')) };
  const found = await read<Row>('registrationShow', { passReference });
  const attendee = await read<object>('attendeeShow', { passReference });
  const main = [
    searchForm(passReference),
    fields(found!),
    attendee
      ? html`<h2>Attendee</h2>
          !${fields(attendee)}`
      : '',
    actions(
      action('mailResend', { passReference }),
      action('registrationCorrect', { passReference }),
      action('registrationCancel', { passReference }),
    ),
  ];
  return { title, main: main.join('\n') };
}

async function partners({ read, action }: PageRequest): Promise<Content> {
  const all = await read<Row[]>('partnerList');
  const rows = all?.map(({ id, name, ...rest }) => ({ id, partner: link(`/partners/${id}`, name), ...rest }));
  return { title: 'Partners', main: actions(action('partnerCreate')) + table('Partners', rows) };
}

async function onePartner({ params, read, action }: PageRequest): Promise<Content> {
  const partnerId = Number(params['partnerId']);
  const partner = (await read<Row[]>('partnerList'))?.find(({ id }) => id === partnerId);
  if (!partner) throw new Refusal(404, 'No such partner');
  const keys = (await read<Row[]>('keyList', { partnerId })) ?? [];
  const rows = keys.map(({ keyId, partnerId: _partner, ...key }) => ({
    keyId,
    ...key,
    actions: together(
      action('keyRotate', { keyId, overlapMs: 86_400_000 }, 'Rotate'),
      action('keyRevoke', { keyId }, 'Revoke'),
    ),
  }));
  const changes = ['Contact', 'Limit', 'Weigh', 'Disable'].map((name) =>
    action(`partner${name}`, { partnerId }),
  );
  const main = [
    fields(partner),
    actions(...changes),
    table('Keys', rows),
    actions(action('keyIssue', { partnerId })),
  ];
  return { title: `Partner ${partnerId}: ${partner['name']}`, main: main.join('\n') };
}

async function deliveries({ read, action }: PageRequest): Promise<Content> {
  const [mail, suppressions, backlog] = await Promise.all([
    read<{ events: Row[] }>('mailStatus'),
    read<Row[]>('suppressionList'),
    read<{ deliveries: Record<string, Row> }>('backlogShow'),
  ]);
  const { shardsAway = [], ...kinds } = backlog?.deliveries ?? {};
  const lags = Object.entries(kinds).map(([kind, lag]) => ({ kind, ...lag }));
  const mailRows = mail?.events.map(({ eventId, reasons: _reasons, ...row }) => ({
    event: link(`/events/${eventId}`, eventId),
    ...row,
  }));
  const suppressed = suppressions?.map(({ digest, ...row }) => ({
    digest,
    ...row,
    actions: action('mailUnsuppress', { address: digest }, 'Send again'),
  }));
  const main = [
    awayHtml(shardsAway as number[]),
    actions(action('mailTest')),
    table('Readers of the journal', lags),
    table('E-mails by event', mailRows),
    table('Addresses that get no e-mails', suppressed),
  ];
  return { title: 'Deliveries', main: main.join('\n') };
}

async function oneWebhook({ params, read, action }: PageRequest): Promise<Content> {
  const { webhookId } = params;
  const webhook = await read<Row>('webhookShow', { webhookId });
  const attempts = await read<Row[]>('webhookAttempts', { webhookId });
  const changes = ['Pause', 'Resume', 'Test', 'Replay', 'Update', 'Rotate', 'Delete'];
  const main = [
    actions(...changes.map((name) => action(`webhook${name}`, { webhookId }, name))),
    fields(webhook!),
    table('Latest attempts', attempts),
  ];
  return { title: `Webhook of partner ${webhook!['partnerId']}`, main: main.join('\n') };
}

async function failures({ read, action }: PageRequest): Promise<Content> {
  const [batches, mail] = await Promise.all([
    read<{ failed: Row[]; away: number[] }>('batchFailed'),
    read<{ events: (Row & { reasons: Record<string, number> })[] }>('mailStatus'),
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
    Object.entries(counts).map(([reason, count]) => ({
      reason,
      event: link(`/events/${eventId}`, eventId),
      'e-mails': count,
    })),
  );
  const main = [
    awayHtml(batches?.away),
    table('Failed batches', rows),
    rows?.length ? actions(action('batchRedrive', {}, 'Redrive all')) : '',
    table('E-mails that were not delivered', reasons),
  ];
  return { title: 'Failures', main: main.join('\n') };
}

async function processes({ read }: PageRequest): Promise<Content> {
  const [running = [], backlog] = await Promise.all([read<Row[]>('processList'), read<Row>('backlogShow')]);
  const missing = ['api', 'worker', 'delivery'].filter(
    (name) => !running.some(({ service }) => service === name),
  );
  const { deliveries: _, ...waiting } = (backlog ?? {}) as Record<string, unknown>;
  const main = [
    missing.length > 0 ? html`<p role="alert">No process reports as: ${missing.join(', ')}</p>` : '',
    table(
      'Running processes',
      running.map((row) => without(row, 'id')),
    ),
    html`<h2>Waiting for finalization</h2>
      !${fields(waiting)}`,
  ];
  return { title: 'Processes', main: main.join('\n') };
}

async function operators({ read, action }: PageRequest): Promise<Content> {
  const [people = [], open = []] = await Promise.all([
    read<Row[]>('operatorList'),
    read<Row[]>('accessList'),
  ]);
  const peopleRows = people.map(({ id: _id, name, ...rest }) => ({
    name,
    ...rest,
    actions: together(
      action('operatorUpdate', { name }, 'Change'),
      action('operatorResetPassword', { name }, 'Reset password'),
      action('operatorSignOut', { name }, 'Sign out'),
    ),
  }));
  const openRows = open.map(({ id, ...rest }) => ({
    id,
    ...rest,
    actions: action('accessRevoke', { accessId: id }, 'Revoke'),
  }));
  const main = [
    table('Operators', peopleRows),
    actions(action('operatorCreate'), action('tokenCreate')),
    table('Open sessions and tokens', openRows),
  ];
  return { title: 'Operators', main: main.join('\n') };
}

async function audit({ query, read }: PageRequest): Promise<Content> {
  const { subject } = query;
  const entries = (await read<Row[]>('auditList', { limit: 200, ...(subject && { subject }) })) ?? [];
  const rows = entries.map(({ id: _id, subject: of, ...entry }) => ({
    subject: link(`/audit?subject=${encodeURIComponent(of)}`, of),
    ...entry,
  }));
  return { title: 'Audit', main: table(subject ? `Changes of ${subject}` : 'Latest changes', rows) };
}
