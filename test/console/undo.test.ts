import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { allocateTicketAction } from '@floodgate/tickets/actions';
import { describe, expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { formsIn, textOf } from '../harness/html-forms.ts';
import { createThings, type ThingsOfEvent } from '../harness/things-of-event.ts';

const { test, given } = consoleTest();

interface Case {
  /** The form, with what it is about. */
  open: (things: ThingsOfEvent) => string;
  fields: Record<string, string>;
  /** The page after it. */
  back: (things: ThingsOfEvent) => string;
  /** What is stored, as the operator API shows it. */
  stored: (things: ThingsOfEvent) => string;
  /** The settings that are compared. */
  settings: string[];
  /** In an event that has sold nothing. */
  isUnsold?: boolean;
  /** What comes before. */
  before?: [open: (things: ThingsOfEvent) => string, fields?: Record<string, string>];
}

const eventPage = ({ eventId }: ThingsOfEvent) => `/events/${eventId}`;
const partnerPage = ({ partnerId }: ThingsOfEvent) => `/partners/${partnerId}`;
const event = ({ eventId }: ThingsOfEvent) => `/events/${eventId}`;
const ticket = ({ ticketId }: ThingsOfEvent) => `/tickets/${ticketId}`;
const tickets = ({ eventId }: ThingsOfEvent) => `/events/${eventId}/tickets`;
const partners = () => '/partners';
const webhook = ({ webhookId }: ThingsOfEvent) => `/webhooks/${webhookId}`;
const gates = ({ eventId }: ThingsOfEvent) => `/events/${eventId}/gates`;
const mail = ({ eventId }: ThingsOfEvent) => `/mail?eventId=${eventId}`;
const ofEvent = (form: string) => (things: ThingsOfEvent) => `/do/${form}?eventId=${things.eventId}`;
const ofTicket = (form: string) => (things: ThingsOfEvent) => `/do/${form}?ticketId=${things.ticketId}`;
const ofPartner =
  (form: string, more = '') =>
  (things: ThingsOfEvent) =>
    `/do/${form}?partnerId=${things.partnerId}${more}`;
const ofWebhook = (form: string) => (things: ThingsOfEvent) => `/do/${form}?webhookId=${things.webhookId}`;
const ofGrant = (form: string) => (things: ThingsOfEvent) =>
  `/do/${form}?eventId=${things.eventId}&partnerId=${things.partnerId}`;

const ofTicketPart = (part: string, fields: Record<string, string>): Case => ({
  open: ofTicket(`ticketUpdate/${part}`),
  fields,
  back: eventPage,
  stored: ticket,
  settings: Object.keys(fields),
});

const ofEventPart = (part: string, fields: Record<string, string>): Case => ({
  open: ofEvent(`eventUpdate/${part}`),
  fields,
  back: eventPage,
  stored: event,
  settings: Object.keys(fields),
});

/** Every change that can be undone. */
const CASES: Record<string, Case> = {
  'a capacity': ofTicketPart('capacity', { capacity: '1500' }),
  'a price': ofTicketPart('price', { price: '99.50' }),
  'the time of a sale': ofTicketPart('sale', {
    saleStartsAt: '2030-01-01T10:00',
    saleEndsAt: '2030-01-02T10:00',
  }),
  'the texts of a ticket': ofTicketPart('texts', { title: 'VIP', benefits: 'Free drinks' }),
  'a waiting list': ofTicketPart('waiting', { offerHours: '24', waitingClosesAt: '2030-01-01T10:00' }),
  'a stop of a sale': {
    open: (things) => `${ofTicket('ticketUpdate/switch')(things)}&active=false`,
    fields: { withHolds: 'true' },
    back: eventPage,
    stored: ticket,
    settings: ['active'],
  },
  'a stop of all sales': {
    open: ofEvent('ticketStopAll'),
    fields: {},
    back: eventPage,
    stored: tickets,
    settings: ['active'],
  },
  'an allocation': {
    open: (things) => `${ofTicket('ticketAllocate')(things)}&partnerId=${things.partnerId}`,
    fields: { reserved: '20', cap: '50', releasesAt: '2030-01-01T10:00' },
    back: eventPage,
    stored: (things) => `/tickets/${things.ticketId}/allocations`,
    settings: ['partnerId', 'reserved', 'cap', 'releasesAt'],
  },
  'the time and place of an event': ofEventPart('place', {
    name: 'Summer',
    venue: 'Town Hall',
    timeZone: 'Europe/Berlin',
    startsAt: '2030-06-01T18:00',
    endsAt: '2030-06-01T23:00',
  }),
  'the rules of cancellations': ofEventPart('cancellation', {
    cancelUntil: '2030-06-01T18:00',
    mailPartnerCancels: 'true',
  }),
  'the e-mails of an event': ofEventPart('mail', { language: 'de', replyTo: 'info@example.com' }),
  'a currency': { ...ofEventPart('money', { currency: 'EUR' }), isUnsold: true },
  'a grant': {
    open: ofGrant('eventGrant'),
    fields: {},
    back: eventPage,
    stored: (things) => `/events/${things.eventId}/partners`,
    settings: ['partnerId'],
    before: [ofGrant('eventRevoke')],
  },
  'the end of a grant': {
    open: ofGrant('eventRevoke'),
    fields: {},
    back: eventPage,
    stored: (things) => `/events/${things.eventId}/partners`,
    settings: ['partnerId'],
  },
  'an archive': {
    open: ofEvent('eventArchive'),
    fields: {},
    back: eventPage,
    stored: (things) => `/events?archived=true&only=${things.eventId}`,
    settings: [],
    before: [ofEvent('ticketStopAll')],
  },
  'the first contact of a partner': {
    open: ofPartner('partnerContact'),
    fields: { contactEmail: 'ann@example.com' },
    back: partnerPage,
    stored: partners,
    settings: ['contactEmail'],
  },
  'the limit of a partner': {
    open: ofPartner('partnerLimit'),
    fields: { requestsPerSecond: '50' },
    back: partnerPage,
    stored: partners,
    settings: ['requestsPerSecond'],
  },
  'the share of a partner': {
    open: ofPartner('partnerWeigh'),
    fields: { weight: '3' },
    back: partnerPage,
    stored: partners,
    settings: ['weight'],
  },
  'a disabled partner': {
    open: ofPartner('partnerDisable', '&disabled=true'),
    fields: {},
    back: partnerPage,
    stored: partners,
    settings: ['disabledAt'],
  },
  'the content of a webhook': {
    open: ofWebhook('webhookUpdate'),
    fields: { entriesPerMessage: '7', types: 'registration.cancelled' },
    back: eventPage,
    stored: webhook,
    settings: ['entriesPerMessage', 'types'],
  },
  'a pause of a webhook': {
    open: ofWebhook('webhookPause'),
    fields: {},
    back: eventPage,
    stored: webhook,
    settings: ['state', 'pausedBy'],
  },
  'a gate': {
    open: (things) => `${ofEvent('gateUpdate')(things)}&gateId=${things.gateId}`,
    fields: { name: 'Garden', showsNames: 'true', opensAt: '2030-06-01T18:00' },
    back: (things) => `/events/${things.eventId}/door`,
    stored: gates,
    settings: ['name', 'showsNames', 'opensAt', 'tickets'],
  },
  'a pause of e-mails': {
    open: ofEvent('mailPause'),
    fields: {},
    back: eventPage,
    stored: mail,
    settings: ['state'],
    before: [ofEvent('mailEnable')],
  },
};

async function signedIn() {
  const { cookie, session } = await given.addOperator('owner');
  const headers = { cookie };
  const post = (action: string, values: Record<string, string>) =>
    given.request(action, { method: 'POST', body: new URLSearchParams(values), headers });
  const open = async (path: string) => (await given.request(path, { headers })).text();
  const send = async (path: string, fields: Record<string, string>) => {
    const form = formsIn(await open(path)).find(({ action }) => action.startsWith('/do/'))!;
    return post(form.action, { ...form.values, ...fields });
  };
  /** Returns the stored settings that are compared, of one thing or of each of a list. */
  const settings = async ({ stored, settings: names }: Case, things: ThingsOfEvent) => {
    const [path = '', only] = stored(things).split('&only=');
    const { status, body } = await given.call(session, `GET ${path}`);
    expect(status).toBe(200);
    const { events } = body as { events?: unknown };
    const list = [events ?? body].flat() as Record<string, unknown>[];
    if (only) return list.map(({ id }) => id).includes(Number(only));
    return list
      .filter(({ id }) => path !== '/partners' || id === things.partnerId)
      .map((one) => names.map((name) => [name, one[name]]));
  };
  return { post, open, send, settings };
}

/** Returns the form in the note that says what was done. */
function undoIn(page: string) {
  const [, note = ''] = /<div class="done"[^>]*>\s*<div class="actions">(.*?)<\/div>/s.exec(page) ?? [];
  return formsIn(note)[0];
}

test.for(Object.keys(CASES))('after a form, one button takes it back: %s', async (name) => {
  const one = CASES[name]!;
  const all = await createThings(given.database);
  const things = one.isUnsold ? { ...all, ...(await createFixture(given.db)) } : all;
  const operator = await signedIn();
  if (one.before) await operator.send(one.before[0](things), one.before[1] ?? {});
  const before = await operator.settings(one, things);
  const done = await operator.send(
    `${one.open(things)}&back=${encodeURIComponent(one.back(things))}`,
    one.fields,
  );
  expect([done.status, done.headers.get('location')]).toEqual([
    303,
    expect.stringContaining(`${one.back(things)}?done=`),
  ]);
  expect(await operator.settings(one, things)).not.toEqual(before);
  const page = await operator.open(done.headers.get('location')!);
  const undo = undoIn(page)!;
  expect(undo.action).toMatch(/^\/do\//);
  const undone = await operator.post(undo.action, undo.values);
  expect([undone.status, undone.headers.get('location')]).toEqual([
    303,
    expect.stringContaining(one.back(things)),
  ]);
  expect(await operator.settings(one, things)).toEqual(before);
});

test('the form of an allocation keeps what nobody changed, although it replaces the whole', async () => {
  const { ticketId, partnerId } = await createThings(given.database);
  const first = { ticketId, partnerId, reserved: 5, cap: 9, releasesAt: new Date('2027-01-02T10:00Z') };
  await perform(given.db, allocateTicketAction, first, 'test');
  const operator = await signedIn();
  await operator.send(`/do/ticketAllocate?ticketId=${ticketId}&partnerId=${partnerId}`, { reserved: '7' });
  const stored = await given.db
    .selectFrom('allocations')
    .selectAll()
    .where('ticket_id', '=', ticketId)
    .execute();
  expect(stored).toEqual([expect.objectContaining({ reserved: 7, cap: 9, releases_at: first.releasesAt })]);
});

describe('a list of changes', () => {
  const LISTS: Record<
    string,
    [form: (things: ThingsOfEvent) => string, page: (things: ThingsOfEvent) => string]
  > = {
    'of a ticket': [
      ofTicket('ticketUpdate/price'),
      ({ eventId, ticketId }) => `/events/${eventId}/tickets/${ticketId}`,
    ],
    'of an event': [ofEvent('eventUpdate/mail'), ({ eventId }) => `/events/${eventId}/settings`],
    'of a partner': [ofPartner('partnerWeigh'), partnerPage],
    'of the audit log': [
      ofTicket('ticketUpdate/price'),
      ({ ticketId }) => `/audit?subject=${encodeURIComponent(`ticket:${ticketId}`)}`,
    ],
  };
  const undosOf = (page: string) => page.match(/>Undo</g)?.length ?? 0;

  test.for(Object.keys(LISTS))(
    '%s has one button for a change, which the note after the form has first',
    async (name) => {
      const things = await createThings(given.database);
      const [form, list] = LISTS[name]!;
      const operator = await signedIn();
      const fields = { price: '9.50', replyTo: 'info@example.com', weight: '3' };
      const done = await operator.send(`${form(things)}&back=${encodeURIComponent(list(things))}`, fields);
      const after = await operator.open(done.headers.get('location')!);
      expect([undosOf(after), undoIn(after)?.action]).toEqual([1, expect.stringMatching(/^\/do\//)]);
      const later = await operator.open(list(things));
      expect([undosOf(later), undoIn(later)]).toEqual([1, undefined]);
    },
  );

  test('takes back a price although the capacity was changed later', async () => {
    const things = await createThings(given.database);
    const operator = await signedIn();
    await operator.send(ofTicket('ticketUpdate/price')(things), { price: '9.50' });
    await operator.send(ofTicket('ticketUpdate/capacity')(things), { capacity: '1500' });
    const page = await operator.open(`/events/${things.eventId}/tickets/${things.ticketId}`);
    const undos = formsIn(page).filter(({ action }) => action === '/do/ticketUpdate');
    expect(undos.map(({ values }) => Object.keys(values))).toEqual([
      ['ticketId', 'capacity', 'back'],
      ['ticketId', 'price', 'back'],
    ]);
  });
});

describe('the note after a form', () => {
  test('says what changed, and what an undo leaves as it is', async () => {
    const things = await createThings(given.database);
    const operator = await signedIn();
    const path = `/do/ticketUpdate/price?ticketId=${things.ticketId}&back=/events/${things.eventId}`;
    const done = await operator.send(path, { price: '9.50' });
    const page = await operator.open(done.headers.get('location')!);
    expect(textOf(page, 'tbody')).toBe('Price 0.00 9.50');
    expect(page).toContain('Seats that are sold in the meantime keep the price at which they were sold.');
    const granted = await operator.send(
      `/do/eventRevoke?eventId=${things.eventId}&partnerId=${things.partnerId}`,
      {},
    );
    expect(granted.status).toBe(303);
    const after = await operator.open(`/events/${things.eventId}?done=eventRevoke`);
    expect(textOf(after, 'tbody')).toMatch(/^Sold by partner [0-9a-f]{12} –$/);
  });

  test('says what it was done to, by name, and shows no ids', async () => {
    const { eventId, ticketId, partnerId } = await createThings(given.database);
    const { title } = await given.db
      .selectFrom('tickets')
      .select('title')
      .where('id', '=', ticketId)
      .executeTakeFirstOrThrow();
    const { name: partner } = await given.db
      .selectFrom('partners')
      .select('name')
      .where('id', '=', partnerId)
      .executeTakeFirstOrThrow();
    const operator = await signedIn();
    const back = `back=/events/${eventId}`;
    const noteAfter = async (form: string, fields: Record<string, string>) => {
      const done = await operator.send(`/do/${form}&${back}`, fields);
      const [, note = ''] = (await operator.open(done.headers.get('location')!)).split('<div class="done"');
      return textOf(`<p ${note.split('</table>', 1)[0]}</p>`, 'p');
    };
    expect(await noteAfter(`ticketUpdate/switch?ticketId=${ticketId}&active=false`, {})).toMatch(
      new RegExp(`^Done: Stop the sale of a ticket · ${title} `),
    );
    const path = `ticketAllocate?ticketId=${ticketId}&partnerId=${partnerId}`;
    expect(await noteAfter(path, { reserved: '1' })).toContain(` · ${title} · ${partner} `);
    const gate = await noteAfter(`gateCreate?eventId=${eventId}`, {
      name: 'West',
      tickets: String(ticketId),
    });
    expect(gate).toMatch(/^Done: .* · West .*Name West/);
    expect(gate).toContain(` ${title} `);
    expect(gate).not.toMatch(/\b(Id|Event)\b/);
  });

  test('has a button only for operators who may use it, and none for what cannot be undone', async () => {
    const { eventId } = await createFixture(given.db);
    const operator = await signedIn();
    await operator.send('/do/partnerCreate', { name: `partner ${randomUUID()}` });
    expect(undoIn(await operator.open(`/events/${eventId}?done=partnerCreate`))).toBeUndefined();
    expect(undoIn(await operator.open(`/events/${eventId}?done=nothing`))).toBeUndefined();
  });

  test('gives a partner the allocation that it had before', async () => {
    const things = await createThings(given.database);
    const { ticketId, partnerId } = things;
    const first = { ticketId, partnerId, reserved: 5, cap: 9, releasesAt: null };
    await perform(given.db, allocateTicketAction, first, 'test');
    const operator = await signedIn();
    const path = `/do/ticketAllocate?ticketId=${ticketId}&partnerId=${partnerId}&back=/events/${things.eventId}`;
    const done = await operator.send(path, { reserved: '7', cap: '' });
    const page = await operator.open(done.headers.get('location')!);
    expect(textOf(page, 'tbody')).toBe('Reserved seats 5 7 Sells at most 9 –');
    const { action, values } = undoIn(page)!;
    await operator.post(action, values);
    const stored = await given.db
      .selectFrom('allocations')
      .selectAll()
      .where('ticket_id', '=', ticketId)
      .execute();
    expect(stored).toEqual([expect.objectContaining({ reserved: 5, cap: 9, releases_at: null })]);
  });
});
