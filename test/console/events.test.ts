import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { perform } from '@floodgate/audit';
import { createEventAction, notifyHoldersAction, updateEventAction } from '@floodgate/events/actions';
import { switchOn } from '@floodgate/mail/actions';
import { createPartner, issueKey } from '@floodgate/partners';
import { reserveBatch } from '@floodgate/registrations';
import { allocateTicketAction, updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { formsIn } from '../harness/html-forms.ts';
import { reservationOf } from '../harness/reservation.ts';
import { sell } from '../harness/sold.ts';

const { test, given } = consoleTest();

/** Returns a page as its operator sees it. */
async function open(path: string, cookie: string) {
  const answer = await given.request(path, { headers: { cookie } });
  const page = await answer.text();
  const text = textOf(page);
  return { status: answer.status, location: answer.headers.get('location'), page, text };
}

/** Returns the words of a page without its tags. */
const textOf = (page: string) =>
  page
    .replaceAll(/<(style|datalist)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#39;/g, "'")
    .replaceAll(/\s+/g, ' ');

async function send(path: string, fields: Record<string, string> | [string, string][], cookie: string) {
  const answer = await given.request(path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { cookie },
  });
  const page = await answer.text();
  return { status: answer.status, location: answer.headers.get('location'), page, text: textOf(page) };
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Adds an event in the future, in Berlin. */
async function addEvent(name: string, settings: { venue?: string; startsAt?: Date | null } = {}) {
  const { db } = given;
  const fixture = await createFixture(db);
  const details = { startsAt: inDays(7), venue: 'Tanzbrunnen', ...settings, name, timeZone: 'Europe/Berlin' };
  await perform(db, updateEventAction, { eventId: fixture.eventId, currency: 'EUR', ...details }, 'Ada');
  return fixture;
}

const rowOf = (page: string, name: string) =>
  textOf(
    page
      .split('<tr>')
      .slice(1)
      .find((row) => row.includes(name))
      ?.split('</tr>')[0] ?? '',
  ).trim();

test('events stand in lists by date, each with what is wrong with its sale first', async () => {
  const { db } = given;
  const { cookie } = await given.addOperator('owner');
  const [late, soon, running, over, timeless] = [
    await addEvent('Late', { startsAt: inDays(20) }),
    await addEvent('Soon', { startsAt: inDays(2) }),
    await addEvent('Running', { startsAt: inDays(-0.1) }),
    await addEvent('Over', { startsAt: inDays(-9) }),
    await addEvent('Timeless', { startsAt: null }),
  ];
  await late.addTicket({ capacity: 20 });
  await soon.addTicket({ saleStartsAt: inDays(0.5) });
  const unsold = await perform(
    db,
    createEventAction,
    { name: 'Unsold', passPrefix: 'UNS', duplicatePolicy: 'allow' },
    'Ada',
  );
  await createFixture(db, 'allow', 'test');
  await sell(db, late, await late.addTicket({ capacity: 1_480 }), 3);
  const { page, text } = await open('/', cookie);
  const order = ['Soon', 'Late', 'Timeless'].map((name) => page.indexOf(`<strong>${name}</strong>`));
  expect(order.toSorted((one, other) => one - other)).toEqual(order);
  for (const name of ['Running', 'Over']) expect(page).not.toContain(`<strong>${name}</strong>`);
  expect(rowOf(page, '>Late<')).toMatch(/Tanzbrunnen .* CET 3 of 1,500 On sale$/);
  expect(rowOf(page, '>Soon<')).toContain('Opens');
  expect(rowOf(page, '>Timeless<')).toMatch(/no time yet .* No tickets$/);
  expect(rowOf(page, '>Unsold<')).toContain('No partner may sell it');
  expect(text).toMatch(/Next opening: Soon in (12 hrs|11 hrs \d+ min|12 hr)/);
  expect((await open('/?when=running', cookie)).page).toContain(`href="/events/${running.eventId}"`);
  const past = await open('/?when=past', cookie);
  expect(rowOf(past.page, '>Over<')).toMatch(/Over$/);
  const tests = await open('/?when=test', cookie);
  expect(tests.text).toMatch(/Test 1 .* Gala/);
  expect([over.eventId, timeless.eventId, unsold.id].every(Boolean)).toBe(true);
});

test('an event is sold out only if no seat is left, also of tickets that are off sale', async () => {
  const { db } = given;
  const { cookie } = await given.addOperator('owner');
  const fixture = await addEvent('Half Stopped');
  const path = `/events/${fixture.eventId}`;
  const [vip, standing] = [
    await fixture.addTicket({ title: 'VIP', capacity: 2 }),
    await fixture.addTicket({ title: 'Standing', capacity: 1_000 }),
  ];
  await sell(db, fixture, vip, 2);
  const states = async () => {
    const { page } = await open('/', cookie);
    const [, head = ''] = /<h1[^>]*>([\s\S]*?)<nav/.exec((await open(path, cookie)).page) ?? [];
    return [/ ([A-Z][a-z ]*)$/.exec(rowOf(page, '>Half Stopped<'))?.[1], textOf(head)];
  };
  const shows = async (state: string) =>
    expect(await states()).toEqual([state, expect.stringContaining(state)]);
  await shows('On sale');
  await perform(db, updateTicketAction, { ticketId: standing, active: false }, 'Ada');
  await shows('Partly off sale');
  await perform(db, updateTicketAction, { ticketId: standing, capacity: 1, active: true }, 'Ada');
  await sell(db, fixture, standing, 1);
  await shows('Sold out');
  await perform(db, updateTicketAction, { ticketId: standing, active: false }, 'Ada');
  await shows('Sold out');
  await perform(
    db,
    updateTicketAction,
    { ticketId: standing, capacity: 9, active: true, saleEndsAt: inDays(-1) },
    'Ada',
  );
  await shows('Sale ended');
});

test('somebody who has only test events is led to their tab', async () => {
  const fixture = await createFixture(given.db, 'allow', 'test');
  const { cookie } = await given.addOperator(null, { [fixture.eventId]: 'viewer' });
  const { page, text } = await open('/', cookie);
  expect(text).toContain('Test events are in the tab “Test”.');
  expect(page).toContain('<a href="/?when&#61;test">Test events');
  await addEvent('Not only tests');
  const { cookie: owner } = await given.addOperator('owner');
  expect((await open('/', owner)).text).not.toContain('Test events are in the tab');
});

test('five hundred events stay usable: pages, and a filter that ignores case and accents', async () => {
  const { cookie } = await given.addOperator('owner');
  await sql`
    with made as (
      insert into events (name, pass_prefix, starts_at, venue, time_zone)
      select 'Night ' || n, 'NIGHT', now() + n * interval '1 day', 'Théâtre ' || n, 'Europe/Paris'
      from generate_series(1, 500) n returning id, shard_id
    )
    insert into tickets (shard_id, event_id, title, capacity, last_modified_by)
    select shard_id, id, 'Seat', 10, 'test' from made`.execute(given.db);
  const first = await open('/?q=night', cookie);
  expect(first.text).toContain('Upcoming 500');
  expect(first.text).toContain('Page 1 of 10');
  expect(first.page.split('<tr>').length - 2).toBe(50);
  expect(gzipSync(first.page).length).toBeLessThan(60 * 1_024);
  const last = await open('/?q=night&page=10', cookie);
  expect(last.page).toContain('Night 500');
  expect(last.page).toContain('href="/?q&#61;night&#38;page&#61;9"');
  const found = await open('/?q=THEATRE+77', cookie);
  expect(found.page).toContain('Night 77');
  expect(found.text).toContain('Upcoming 5');
  expect((await open('/?q=nowhere', cookie)).text).toContain('No event in this list');
});

test('the page of an event shows its figures, what needs attention and forty tickets', async () => {
  const { db } = given;
  const { cookie } = await given.addOperator('owner');
  const event = await addEvent('Sommerfest');
  const ticket = await event.addTicket({ title: 'Standing', price: 49.9, capacity: 1_500 });
  for (let count = 2; count <= 40; count++) await event.addTicket({ title: `Seat ${count}`, capacity: 1 });
  await sell(db, event, ticket, 4);
  await reserveBatch(db, randomUUID(), [reservationOf(event, ticket, { holdSeconds: 600 })]);
  const { page, text } = await open(`/events/${event.eventId}`, cookie);
  expect(text).toMatch(
    / 4 sold of 1,539 1,534 left · 1 held €199.60 sold, without cancelled seats 0 checked in/,
  );
  expect(text).toContain('E-mails are off');
  expect(text).toContain('Not running: API, worker and delivery');
  expect(rowOf(page, `/tickets/${ticket}"`)).toMatch(/^Standing €49.90 On sale 5 of 1,500 Change Stop sale$/);
  expect(page.split('>Stop sale<').length - 1).toBe(40);
  expect(page).toContain('aria-label="Sold per hour, last 24 hours"');
  await switchOn(db, event, false);
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, reason)
    values (${event.shardId}, ${event.eventId}, 'confirmation', '1', 'undeliverable', 'refused')`.execute(db);
  const later = await open(`/events/${event.eventId}`, cookie);
  expect(later.text).not.toContain('E-mails are off');
  expect(later.text).toContain('1 e-mail was not delivered. Who, and why');
});

test('what is shown and offered follows the roles of the operator', async () => {
  const event = await addEvent('Roles');
  const ticket = await event.addTicket();
  const other = await addEvent('Foreign');
  const paths = ['', '/tickets', `/tickets/${ticket}`, '/partners', '/settings'].map(
    (end) => `/events/${event.eventId}${end}`,
  );
  const [viewer, operator, limited] = [
    await given.addOperator('viewer'),
    await given.addOperator('operator'),
    await given.addOperator(null, { [event.eventId]: 'operator' }),
  ];
  for (const path of paths) {
    const [seen, worked, own] = await Promise.all(
      [viewer, operator, limited].map(({ cookie }) => open(path, cookie)),
    );
    expect([path, seen!.status, worked!.status, own!.status]).toEqual([path, 200, 200, 200]);
    expect([path, seen!.page]).not.toEqual([path, expect.stringMatching(/\/do\/(?!jobCancelPreview)/)]);
    expect([path, worked!.page]).toEqual([path, expect.stringContaining('/do/')]);
  }
  expect((await open(`/events/${other.eventId}/settings`, limited.cookie)).status).toBe(404);
  expect((await open(`/events/${other.eventId}/tickets/${ticket}`, operator.cookie)).status).toBe(404);
  const lists = await Promise.all([viewer, limited].map(({ cookie }) => open('/', cookie)));
  for (const { page } of lists) expect(page).not.toContain('/events/new');
  expect(lists[1]!.page).not.toContain(`href="/events/${other.eventId}"`);
  for (const { cookie } of [viewer, limited]) {
    expect((await open('/events/new', cookie)).status).toBe(403);
    expect((await send('/events/new', { name: 'Mine' }, cookie)).status).toBe(403);
  }
});

test('a wrong price is taken back on the page of the ticket by one button', async () => {
  const { db } = given;
  const { cookie } = await given.addOperator('owner');
  const event = await addEvent('Prices');
  const ticketId = await event.addTicket({ title: 'VIP', price: 199 });
  const path = `/events/${event.eventId}/tickets/${ticketId}`;
  expect((await open(path, cookie)).page).not.toContain('Undo');
  await perform(db, updateTicketAction, { ticketId, price: 19.9 }, 'Ada');
  const { page, text } = await open(path, cookie);
  expect(text).toMatch(/€19\.90 since .* €199\.00 from the start/);
  expect(text).toMatch(/Ada changed the price of VIP from 199\.00 to 19\.90, .* Undo Seats that are sold/);
  expect(text.match(/Undo/g)).toHaveLength(1);
  const [, form] = /<form class="inline"[^>]*action="\/do\/ticketUpdate">([\s\S]*?)<\/form>/.exec(page)!;
  const fields = Array.from(form!.matchAll(/name="(\w+)" value="([^"]*)"/g), ([, name, value]) => [
    name!,
    value!,
  ]);
  const undone = await send('/do/ticketUpdate', fields as [string, string][], cookie);
  expect([undone.status, undone.location]).toEqual([303, `${path}?done=ticketUpdate`]);
  // Right after it, the button stands at the top of the page only.
  expect((await open(undone.location!, cookie)).text.match(/Undo/g)).toHaveLength(1);
  const shown = await given.call((await given.addOperator('viewer')).session, `GET /tickets/${ticketId}`);
  expect(shown.body).toMatchObject({ price: 199 });
});

test('an event that is called off offers no sale, but a stopped one does', async () => {
  const { cookie } = await given.addOperator('owner');
  const event = await addEvent('Stopped');
  const ticketId = await event.addTicket();
  await perform(given.db, updateTicketAction, { ticketId, active: false }, 'Ada');
  const paths = ['', '/tickets', `/tickets/${ticketId}`].map((end) => `/events/${event.eventId}${end}`);
  for (const path of paths) expect((await open(path, cookie)).text).toMatch(/Resume sale/);
  await sql`update events set called_off_at = now(), stopped_tickets = ${[ticketId]} where id = ${event.eventId}`.execute(
    given.db,
  );
  for (const path of paths) {
    const { text } = await open(path, cookie);
    expect(text).toContain('Called off');
    expect(text).not.toMatch(/Resume|Call off event|Watch live|Add ticket|Allocate seats|\bChange\b/);
  }
  const attendees = await open(`/events/${event.eventId}/attendees`, cookie);
  expect(attendees.page).not.toContain('/do/eventCallOff');
});

test('a partner is chosen to sell an event, with its allocations by name', async () => {
  const { db } = given;
  const { cookie } = await given.addOperator('owner');
  const event = await addEvent('Partners');
  const ticketId = await event.addTicket({ title: 'Standing' });
  const partner = await createPartner(db, `Shop ${randomUUID()}`);
  const path = `/events/${event.eventId}/partners`;
  const before = await open(path, cookie);
  expect(before.page).toMatch(new RegExp(`<option value="${partner.id}" *>${partner.name}</option>`));
  const granted = await send(
    '/do/eventGrant',
    { eventId: String(event.eventId), partnerId: String(partner.id), back: path },
    cookie,
  );
  expect([granted.status, granted.location]).toEqual([
    303,
    `${path}?partnerId=${partner.id}&done=eventGrant`,
  ]);
  // The seats of the new partner are the next step.
  const offered = await open(granted.location!, cookie);
  expect(offered.page).toContain(`<option value="${partner.id}" selected>${partner.name}</option>`);
  await perform(db, allocateTicketAction, { ticketId, partnerId: partner.id, reserved: 30 }, 'Ada');
  const after = await open(path, cookie);
  expect(rowOf(after.page, `/partners/${partner.id}"`)).toMatch(
    /Has no key for it 0 Issue a key Allocate seats Stop its sale$/,
  );
  expect(after.text).toMatch(new RegExp(`Standing ${partner.name} 30 no limit 0 30 never Change`));
  expect((await open(`/events/${event.eventId}/tickets/${ticketId}`, cookie)).text).toContain(
    `${partner.name} 30`,
  );
  await issueKey(db, partner.id, null, 'live');
  expect(rowOf((await open(path, cookie)).page, `/partners/${partner.id}"`)).toContain('May sell 1');
});

test('seats that cannot be reserved leave their number on the page, to be changed and sent again', async () => {
  const { cookie } = await given.addOperator('owner');
  const event = await addEvent('Reserve');
  const ticketId = await event.addTicket({ capacity: 2_000 });
  const back = `/events/${event.eventId}/partners`;
  const form = formsIn((await open(back, cookie)).page).find(
    ({ action }) => action === '/do/ticketAllocate',
  )!;
  const chosen = { partnerId: String(event.partnerId), ticketId: String(ticketId) };
  const refused = await send(form.action, { ...form.values, ...chosen, reserved: '5000000' }, cookie);
  expect(refused.status).toBe(409);
  const again = formsIn(refused.page).find(({ action }) => action === '/do/ticketAllocate')!;
  const shown = again.fields.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  expect(shown).toEqual(['reserved', 'cap', 'releasesAt']);
  expect(again.values).toMatchObject({ ...chosen, reserved: '5000000', back });
  const saved = await send(again.action, { ...again.values, reserved: '1,500' }, cookie);
  expect([saved.status, saved.location]).toEqual([303, `${back}?done=ticketAllocate`]);
  expect((await open(back, cookie)).text).toContain('1,500 no limit');
});

test('after an event was moved, its page offers to tell the holders, until they are told', async () => {
  const { db } = given;
  const { cookie } = await given.addOperator('owner');
  const event = await addEvent('Moved');
  const { eventId, shardId } = event;
  await switchOn(db, event, false);
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, sent_at, revision)
    select ${shardId}, ${eventId}, 'confirmation', n::text, 'sent', now(), 2 from generate_series(1, 12) n`.execute(
    db,
  );
  const path = `/events/${eventId}/settings`;
  await perform(db, updateEventAction, { eventId, mailPartnerCancels: true }, 'Ada');
  expect((await open(path, cookie)).text).not.toContain('Tell the');
  await perform(db, updateEventAction, { eventId, startsAt: inDays(14) }, 'Ada');
  for (const at of [path, `/events/${eventId}`])
    expect((await open(at, cookie)).text).toContain('Tell the 12 holders');
  const { text } = await open(`${path}?done=eventUpdate`, cookie);
  expect(text).toMatch(/Ada changed the start of Moved from/);
  await perform(db, notifyHoldersAction, { eventId }, 'Ada');
  for (const at of [path, `/events/${eventId}`])
    expect((await open(at, cookie)).text).not.toContain('Tell the');
});

const NEW = {
  name: 'Sommerfest Köln',
  venue: 'Tanzbrunnen',
  startsAt: '2027-06-04T11:00',
  endsAt: '2027-06-04T23:00',
  timeZone: 'Europe/Berlin',
  currency: 'EUR',
  mode: 'live',
  language: 'de',
  duplicatePolicy: 'reject',
  sendsMail: 'true',
  mailPartnerCancels: 'true',
  rows: '3',
  't1.title': 'Stehplatz',
  't1.capacity': '1000',
  't1.price': '49.90',
  't1.saleStartsAt': '2027-01-04T10:00',
  't2.title': 'Sitzplatz',
  't2.capacity': '500',
  't3.title': 'VIP',
  't3.capacity': '3',
  't3.price': '199',
};

async function countEvents() {
  const { rows } = await sql<{ events: number }>`select count(*)::integer as events from events`.execute(
    given.db,
  );
  return rows[0]!.events;
}

test('a new event comes with its tickets, partners and e-mails from one page', async () => {
  const { cookie, session } = await given.addOperator('operator');
  const [first, second] = [
    await createPartner(given.db, `Shop ${randomUUID()}`),
    await createPartner(given.db, `Shop ${randomUUID()}`),
  ];
  expect((await open('/events/new', cookie)).page).toContain(`value="${second.id}"`);
  const partnerIds = [first, second].map(({ id }): [string, string] => ['partnerIds', String(id)]);
  const made = await send('/events/new', [...Object.entries(NEW), ...partnerIds], cookie);
  expect([made.status, made.location]).toEqual([303, expect.stringMatching(/^\/events\/\d+\?made=true$/)]);
  const eventId = /\d+/.exec(made.location!)![0];
  const event = await given.call(session, `GET /events/${eventId}`);
  expect(event.body).toMatchObject({
    name: NEW.name,
    passPrefix: 'SOMMERFE',
    startsAt: '2027-06-04T09:00:00.000Z',
    currency: 'EUR',
    language: 'de',
    duplicatePolicy: 'reject',
    mailOperatorCancels: false,
    mailPartnerCancels: true,
  });
  const tickets = await given.call(session, `GET /events/${eventId}/tickets`);
  expect(tickets.body).toMatchObject([
    { title: 'Stehplatz', capacity: 1_000, price: 49.9, saleStartsAt: '2027-01-04T09:00:00.000Z' },
    { title: 'Sitzplatz', capacity: 500, price: 0, saleStartsAt: null },
    { title: 'VIP', capacity: 3, price: 199 },
  ]);
  const sellers = await given.call(session, `GET /events/${eventId}/partners`);
  expect(sellers.body).toHaveLength(2);
  const { text } = await open(made.location!, cookie);
  expect(text).toContain('Below is what is still missing before its sale can open.');
  expect(text).toContain('No partner has a key for it');
  expect(text).not.toContain('E-mails are off');
});

test('a new event with errors is not made, and nothing that was typed is lost', async () => {
  const { cookie } = await given.addOperator('operator');
  const before = await countEvents();
  const wrong = {
    ...NEW,
    currency: 'JPY',
    't1.capacity': '5.000',
    't2.title': '',
    endsAt: '2027-06-04T10:00',
    't3.price': '12',
  };
  const answer = await send('/events/new', wrong, cookie);
  expect(answer.status).toBe(422);
  const marked = Array.from(answer.page.matchAll(/name="([\w.]+)"[^>]*aria-invalid/g), ([, name]) => name);
  expect(new Set(marked)).toEqual(new Set(['endsAt', 't1.capacity', 't1.price', 't2.title']));
  expect(answer.text).toContain('Fields that need a look: 4.');
  for (const typed of ['5.000', '49.90', 'Stehplatz', '2027-01-04T10:00', 'Sommerfest Köln'])
    expect(answer.page).toContain(`value="${typed}"`);
  expect(answer.page).toMatch(/name="sendsMail" value="true" checked/);
  expect(answer.page).not.toMatch(/name="mailOperatorCancels" value="true" checked/);
  const unknown = await send('/events/new', { ...NEW, partnerIds: '2000000001' }, cookie);
  expect(unknown.status).toBe(404);
  expect(unknown.page).toContain('value="Stehplatz"');
  expect(await countEvents()).toBe(before);
});

test('more tickets than three, and a session that has ended, lose nothing either', async () => {
  const { name, password } = await given.addOperator('operator');
  const { cookie } = await given.addOperator('operator');
  const more = await send('/events/new', { ...NEW, more: 'true' }, cookie);
  expect(more.status).toBe(200);
  expect(more.page).toContain('name="t6.title"');
  expect(more.page).toContain('value="Stehplatz"');
  const ended = await send('/events/new', { ...NEW, name: 'Kept' }, '');
  expect(ended.status).toBe(401);
  const hidden = (field: string) =>
    new RegExp(`name="${field}" value="([^"]*)"`).exec(ended.page)![1]!.replaceAll('&#34;', '"');
  const back = await send('/sign-in', { name, password, next: hidden('next'), kept: hidden('kept') }, '');
  expect(back.status).toBe(200);
  expect(back.page).toContain('value="Kept"');
  expect(back.page).toContain('value="Stehplatz"');
});

test('an event is made in German, too', async () => {
  const { cookie, session } = await given.addOperator('operator');
  const { page, text } = await open('/events/new', `${cookie}; floodgate_language=de`);
  expect(page).toContain('<html lang="de">');
  expect(text).toContain('Veranstaltung anlegen');
  expect(text).not.toMatch(/undefined|\[object/);
  expect(text).toContain('Zum Beispiel: 49,90.');
  const german = { ...NEW, 't1.capacity': '1.000', 't1.price': '12,50', 't3.price': '1.199,00' };
  const made = await send('/events/new', german, `${cookie}; floodgate_language=de`);
  expect(made.status).toBe(303);
  const tickets = await given.call(session, `GET /events/${/\d+/.exec(made.location!)![0]}/tickets`);
  expect(tickets.body).toMatchObject([{ capacity: 1_000, price: 12.5 }, {}, { price: 1_199 }]);
});
