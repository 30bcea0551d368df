import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { requeueDeliveries } from '@floodgate/deliveries';
import { addConsumer } from '@floodgate/journal';
import { findRegistrations, passReferenceOf, reserveBatch, type Reservation } from '@floodgate/registrations';
import { indexAttendees } from '@floodgate/registrations/find';
import { replaceAttendeeAction } from '@floodgate/registrations/actions';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { unescaped } from '../harness/html-text.ts';
import { finalizePending } from '../harness/journal.ts';
import { reservationOf } from '../harness/reservation.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';

const { test, given } = consoleTest();

const MASKED = /\/people\/GALA-\d+-\d+-%E2%80%A6/;

/** Sells a seat to each of these people, and makes them known to the search. Returns the pass references. */
async function sellTo(fixture: Fixture, ticketId: number, ...people: Partial<Reservation>[]) {
  const { db } = given.database;
  const wanted = people.map((person) => reservationOf(fixture, ticketId, person));
  const outcomes = await reserveBatch(db, randomUUID(), wanted);
  await finalizePending(db, fixture.shardId);
  await untilKnown(
    fixture.shardId,
    outcomes.flatMap((one) => (one.kind === 'registered' ? [one.serial] : [])),
  );
  const rows = await findRegistrations(
    db,
    outcomes.map((outcome) => {
      if (outcome.kind !== 'registered') throw new Error(`not sold: ${outcome.kind}`);
      return { ...fixture, serial: outcome.serial };
    }),
  );
  return rows.map((row) => passReferenceOf(row!));
}

/** Waits until the search knows registrations. It takes the sales of an earlier test for a launch. */
async function untilKnown(shardId: number, serials: readonly number[]) {
  const { db } = given.database;
  await waitUntil('the search knows them', async () => {
    await indexAttendees(db, shardId, 10_000);
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from search_entries
      where shard_id = ${shardId} and serial = any(${[...serials]}::bigint[])`.execute(db);
    return rows[0]!.count === serials.length;
  });
}

const masked = (passReference: string) => passReference.replace(/\d{10}$/, '…');
const pathOf = (passReference: string) => `/people/${encodeURIComponent(masked(passReference))}`;

/** Opens a page as an operator. */
async function open(path: string, cookie: string, headers: Record<string, string> = {}) {
  const answer = await given.request(path, { headers: { cookie, ...headers } });
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
}

const GROSS = {
  fullName: 'Anna-Lena Groß',
  emailAddress: 'anna@heydt.example',
  phoneNumber: '+49 221 4711000',
  partnerReference: 'A-4711',
};

test('one field finds a person by surname, address, phone, order and pass', async () => {
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket({ title: 'Stehplatz' });
  const [passReference] = await sellTo(fixture, ticketId, GROSS, {
    fullName: 'Somebody Else',
    emailAddress: 'else@example.com',
  });
  const { cookie } = await given.addOperator('operator');
  const asked = [
    'Groß',
    'gross',
    'lena anna',
    'heydt',
    'anna@heydt',
    '0221 4711000',
    '+49 221',
    'A-4711',
    'a-4711',
  ];
  for (const text of asked) {
    const { status, text: shown } = await open(
      `/people?${new URLSearchParams({ q: text }).toString()}`,
      cookie,
    );
    expect([text, status]).toEqual([text, 200]);
    expect([text, shown]).toEqual([text, expect.stringContaining('Anna-Lena Groß')]);
    expect(shown).not.toContain('Somebody Else');
    expect(shown).toContain('Stehplatz');
    expect(shown).toContain('Gala');
  }
  const exact = [
    passReference!,
    passReference!.toLowerCase(),
    masked(passReference!),
    passReference!.slice(0, -11),
  ];
  for (const text of exact) {
    const found = await open(`/people?${new URLSearchParams({ q: text }).toString()}`, cookie);
    expect([text, found.status, found.location]).toEqual([text, 303, pathOf(passReference!)]);
  }
  const kept = await open(`/registrations?passReference=${passReference}`, cookie);
  expect(kept).toMatchObject({ status: 303, location: pathOf(passReference!) });
});

test('two seats of one person differ in a result: in their ticket, the time of sale and their pass', async () => {
  const fixture = await createFixture(given.database.db, 'allow');
  const [standing, vip] = [
    await fixture.addTicket({ title: 'Standing' }),
    await fixture.addTicket({ title: 'VIP' }),
  ];
  const twin = { fullName: 'Tilda Twin', emailAddress: 'tilda@example.com' };
  const [one] = await sellTo(fixture, standing, twin);
  const [other] = await sellTo(fixture, vip, twin);
  const { cookie } = await given.addOperator('operator');
  const { text } = await open('/people?q=tilda', cookie);
  const rows = text.split('<tr>').filter((row) => row.includes('Tilda Twin'));
  expect(rows).toHaveLength(2);
  for (const [title, passReference] of [
    ['Standing', one!],
    ['VIP', other!],
  ] as const) {
    const row = rows.find((shown) => shown.includes(masked(passReference)));
    expect(row).toMatch(new RegExp(`${title}<br /><span class="soft"><time`));
    expect(row).not.toContain(passReference);
  }
});

test('a pass that is sent again keeps the time at which it was sent first', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const { eventId, shardId } = fixture;
  const [passReference] = await sellTo(fixture, await fixture.addTicket(), { fullName: 'Rita Resent' });
  const { rows } = await sql<{ serial: string }>`
    insert into deliveries (shard_id, event_id, kind, subject, state, created_at, tried_at, sent_at)
    select ${shardId}, ${eventId}, 'confirmation', serial::text, 'sent', t, t, t
    from registrations, (values (timestamptz '2026-01-02T03:04:05Z')) as v (t)
    where shard_id = ${shardId} and event_id = ${eventId} returning subject as serial`.execute(db);
  await requeueDeliveries(db, { shardId, eventId, kind: 'confirmation' }, rows[0]!.serial);
  const { cookie } = await given.addOperator('operator');
  const { text } = await open(pathOf(passReference!), cookie);
  const story = /<ol class="rows story">([\s\S]*?)<\/ol>/.exec(text)![1]!;
  expect(story).toMatch(/: sent<\/strong>\s*<span class="soft">· <time datetime="2026-01-02T03:04:05/);
  expect(story).toMatch(/: waits<\/strong>/);
  expect(text).toMatch(/sent before: .*2 Jan 2026/);
});

test('a search says what it cannot find, and that a request id finds nobody yet', async () => {
  const { cookie } = await given.addOperator('operator');
  expect((await open('/people', cookie)).text).toContain('Any word of the name');
  expect((await open('/people?q=%3F%3F', cookie)).text).toContain('at least one letter or digit');
  expect((await open('/people?q=nobodylikethis', cookie)).text).toContain(
    'Nobody was found for “nobodylikethis”',
  );
  expect((await open(`/people?q=${randomUUID()}`, cookie)).text).toContain('This looks like a request id');
});

test('a long result has a count and pages in both directions', async () => {
  const fixture = await createFixture(given.database.db);
  const word = `Many${randomUUID().slice(0, 8)}`;
  const people = Array.from({ length: 60 }, (_, index) => ({
    fullName: `${word} Nr${index}`,
    emailAddress: `many${index}@example.com`,
  }));
  await sellTo(fixture, await fixture.addTicket(), ...people);
  const { cookie } = await given.addOperator('operator');
  const linkIn = (text: string, rel: string) =>
    new RegExp(`rel="${rel}" href="([^"]+)"`).exec(unescaped(text))?.[1];
  const first = await open(`/people?q=${word}`, cookie);
  expect(first.text).toContain('60 found');
  expect(linkIn(first.text, 'prev')).toBeUndefined();
  const second = await open(linkIn(first.text, 'next')!, cookie);
  const third = await open(linkIn(second.text, 'next')!, cookie);
  expect(third.text).toContain('Nr0<');
  expect(linkIn(third.text, 'next')).toBeUndefined();
  const back = await open(linkIn(third.text, 'prev')!, cookie);
  expect(back.text).toContain('Nr30<');
});

test('an entry of a waiting list is found, and leads to its ticket', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const ticketId = await fixture.addTicket({ capacity: 1, offerHours: 24 });
  await sellTo(fixture, ticketId, { fullName: 'First Buyer' });
  const contact = { fullName: 'Wanda Waitsalot', emailAddress: 'wanda@example.com' };
  await joinWaitingList(db, fixture, { organizedEventTicketID: ticketId, contact }, null, 10_000);
  await finalizePending(db, fixture.shardId);
  const { cookie } = await given.addOperator('operator');
  await waitUntil('the search knows the entry', async () => {
    await indexAttendees(db, fixture.shardId, 10_000);
    return (await open('/people?q=waitsalot', cookie)).text.includes('Wanda');
  });
  const { text } = await open('/people?q=waitsalot', cookie);
  expect(text).toContain('On the waiting list');
  expect(text).toContain(`href="/events/${fixture.eventId}/tickets/${ticketId}"`);
});

test('the page of a person tells the whole story with authors, and links to what can be done', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const ticketId = await fixture.addTicket({ title: 'Stehplatz', price: 49.9 });
  const [first] = await sellTo(fixture, ticketId, GROSS, {
    fullName: 'Jörg Groß',
    partnerReference: 'A-4711',
  });
  const someone = { fullName: 'Eve Later', emailAddress: 'eve@example.com' };
  const replaced = await perform(db, replaceAttendeeAction, { passReference: first!, ...someone }, 'grace');
  await finalizePending(db, fixture.shardId);
  const { cookie } = await given.addOperator('operator');
  const { status, text } = await open(pathOf(replaced.passReference), cookie);
  expect(status).toBe(200);
  for (const part of ['Stehplatz', '49.90', 'order A-4711', 'The seat was given to another attendee'])
    expect(text).toContain(part);
  expect(text).toMatch(/<h1[^>]*>Eve Later/);
  expect(text).toContain('by grace');
  expect(text).toMatch(/Same order A-4711[\s\S]*Jörg Groß/);
  for (const id of ['mailResend', 'registrationCorrect', 'registrationReplace', 'registrationCancel'])
    expect(text).toContain(`/do/${id}?`);
  // A link has no code of a pass.
  expect(text.replaceAll(/<code>.*?<\/code>/g, '')).not.toMatch(/href="[^"]*GALA-\d+-\d+-\d{10}/);
  expect(text).toMatch(MASKED);
});

test('a viewer sees the registration, and nothing about the person', async () => {
  const fixture = await createFixture(given.database.db);
  const [passReference] = await sellTo(fixture, await fixture.addTicket(), GROSS);
  const { cookie } = await given.addOperator('viewer');
  const { status, text } = await open(pathOf(passReference!), cookie);
  expect(status).toBe(200);
  expect(text).toContain(masked(passReference!));
  expect(text).not.toMatch(/Groß|heydt|4711000|\/do\//);
  expect((await open('/people?q=gross', cookie)).text).toContain('Your role shows nobody by name');
});

test('the form of a correction is filled, and that of a cancellation says whom it hits and what follows', async () => {
  const fixture = await createFixture(given.database.db);
  const [passReference] = await sellTo(fixture, await fixture.addTicket({ title: 'Stehplatz' }), GROSS);
  const { cookie } = await given.addOperator('operator');
  const query = new URLSearchParams({ passReference: masked(passReference!), back: pathOf(passReference!) });
  const correct = await open(`/do/registrationCorrect?${query.toString()}`, cookie);
  expect(correct.text).toContain('value="Anna-Lena Groß"');
  expect(correct.text).toContain('value="anna@heydt.example"');
  const cancel = await open(`/do/registrationCancel?${query.toString()}`, cookie);
  expect(cancel.text).toContain('The registration of Anna-Lena Groß for Gala (Stehplatz) is cancelled.');
  expect(cancel.text).toContain('Attendees who got a confirmation get an e-mail');
  expect(cancel.text).toContain('class="danger"');
  const body = new URLSearchParams({ ...Object.fromEntries(query), emailAddress: 'right@heydt.example' });
  body.set('was.emailAddress', GROSS.emailAddress);
  const saved = await given.request('/do/registrationCorrect', { method: 'POST', body, headers: { cookie } });
  expect(saved.status).toBe(303);
  const after = await open(saved.headers.get('location')!, cookie);
  expect(after.text).toContain('right@heydt.example');
  expect(after.text).toMatch(/Done: Correct the name or address[\s\S]*Corrected[\s\S]*e-mail address/);
});

test('the attendees of an event are listed, filtered, counted, and leave as a file of exactly what is shown', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const [standing, seated] = [await fixture.addTicket(), await fixture.addTicket({ title: 'Seated' })];
  await sellTo(fixture, standing, GROSS, { fullName: 'Bert Stehr', emailAddress: 'bert@example.com' });
  await sellTo(fixture, seated, { fullName: 'Sina Sitz', emailAddress: 'sina@example.com' });
  const { cookie } = await given.addOperator('operator');
  const path = `/events/${fixture.eventId}/attendees`;
  const whole = await open(path, cookie);
  for (const name of ['Anna-Lena Groß', 'Bert Stehr', 'Sina Sitz']) expect(whole.text).toContain(name);
  expect(whole.text).toContain('3 seats are taken');
  const bySeat = await open(`${path}?ticketId=${seated}`, cookie);
  expect(bySeat.text).toContain('Sina Sitz');
  expect(bySeat.text).not.toContain('Bert Stehr');
  expect((await open(`${path}?ticketId=${standing}&count=true`, cookie)).text).toContain('2 meet the filter');
  const byName = await open(`${path}?name=gross&state=confirmed`, cookie);
  expect(byName.text).toContain('Anna-Lena Groß');
  expect(byName.text).not.toContain('Bert Stehr');
  const links = [...byName.text.matchAll(/href="([^"]+\/file\?[^"]+)"/g)].map(([, href]) => unescaped(href!));
  expect(links).toHaveLength(3);
  for (const link of links) {
    const file = await given.request(link, { headers: { cookie } });
    expect([link, file.status, file.headers.get('content-disposition')]).toEqual([
      link,
      200,
      expect.stringMatching(/^attachment; filename="attendees-\d+\.(csv|ndjson)"$/),
    ]);
    const text = await file.text();
    expect(text).toContain('Anna-Lena Groß');
    expect(text).not.toContain('Bert Stehr');
  }
  const none = await open(`${path}?name=zacharias`, cookie);
  expect(none.text).toContain('Nobody meets the filter.');
  expect((await open(`${path}?phone=1`, cookie)).text).toMatch(/3 digits|3 to 64/);
});

test('times of a filter are in the zone of the event', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  await db
    .updateTable('events')
    .set({ time_zone: 'Pacific/Auckland' })
    .where('id', '=', fixture.eventId)
    .execute();
  await sellTo(fixture, await fixture.addTicket(), GROSS);
  const { cookie } = await given.addOperator('operator');
  const before = Temporal.Now.zonedDateTimeISO('Pacific/Auckland').subtract({ minutes: 2 });
  const local = before.toPlainDateTime().toString({ smallestUnit: 'minute' });
  const path = `/events/${fixture.eventId}/attendees`;
  expect((await open(`${path}?soldFrom=${local}`, cookie)).text).toContain('Anna-Lena Groß');
  expect((await open(`${path}?soldUntil=${local}`, cookie)).text).toContain('Nobody meets the filter.');
});

test('who may see no attendees gets neither the list nor the file', async () => {
  const fixture = await createFixture(given.database.db);
  const { cookie } = await given.addOperator('viewer');
  for (const end of ['', '/file', '/file?name=anna']) {
    const { status } = await open(`/events/${fixture.eventId}/attendees${end}`, cookie);
    expect([end, status]).toEqual([end, 403]);
  }
});

test('the pages are complete in German', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  await addConsumer(db, { ...fixture, kind: 'mail', partnerId: 0, fromNow: false });
  const [passReference] = await sellTo(fixture, await fixture.addTicket(), {
    ...GROSS,
    fullName: 'Ötzi Einzigartig',
  });
  const { cookie } = await given.addOperator('operator');
  const german = { 'accept-language': 'de' };
  const person = await open(pathOf(passReference!), cookie, german);
  for (const text of ['Was geschah', 'Pass erneut senden', 'Verkauft', 'Bestätigt', 'verkauft von'])
    expect(person.text).toContain(text);
  expect((await open('/people?q=einzig', cookie, german)).text).toContain('1 gefunden');
  expect((await open(`/events/${fixture.eventId}/attendees`, cookie, german)).text).toContain(
    'Gästeliste importieren',
  );
});
