import { readFile } from 'node:fs/promises';
import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { digestOf } from '@floodgate/mail/kinds/refusals';
import { leaveWaitingList, serveWaitingLists } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import PostalMime from 'postal-mime';
import { beforeEach, expect } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { runCli } from '../harness/service-process.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, confirm, deliveriesOf, enable, makeDue, startMails } from './mail-process.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

// Offers of waiting lists, by real delivery processes into a real SMTP server.

const TICKET = { title: 'Front row & dinner', capacity: 2 };
test.override('ticket', TICKET);

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries', 'mail_suppressions');
});

const LOCK_WITHIN_MS = 1_000;
const HOUR_MS = 3_600_000;
const NAME = 'Jörg <b>Müller</b>';
const CONTACTS = addresses(2, 'contact') as [string, string];
const isOffer = ({ to }: { to: string }) => CONTACTS.includes(to);
const offers = () => deliveriesOf(given.database.db, given.gala, 'waiting-offer');
const mail = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, 'mail', ...args);

/** Has a contact wait for seats, and returns the id of the entry. */
async function join(emailAddress: string, seats: number, fullName = NAME) {
  keepPrivate([emailAddress, fullName]);
  await sql`update tickets set offer_hours = 24 where id = ${given.ticketId}`.execute(given.database.db);
  const request = { organizedEventTicketID: given.ticketId, seats, contact: { fullName, emailAddress } };
  const joined = await joinWaitingList(given.database.db, given.gala, request, null, LOCK_WITHIN_MS);
  if (joined.outcome !== 'joined') throw new Error(joined.outcome);
  return joined.id;
}

/** Offers seats to these contacts, until a fixed time, and returns the ids of their entries. */
async function offer(contacts: readonly string[], fullName?: string) {
  await confirm(given.database.db, given.gala, given.ticketId, addresses(2));
  const entries: string[] = [];
  // Together the entries wait for as many seats as the ticket has.
  const seats = TICKET.capacity / contacts.length;
  for (const contact of contacts) entries.push(await join(contact, seats, fullName));
  await sql`update tickets set capacity = 10 where id = ${given.ticketId}`.execute(given.database.db);
  expect(await serveWaitingLists(given.database.db, given.gala.shardId, 10)).toBe(contacts.length);
  await sql`update waiting_entries set expires_at = '2027-01-20T17:30:00Z'`.execute(given.database.db);
  await finalizePending(given.database.db, given.gala.shardId);
  return entries;
}

const EVENT = { startsAt: new Date('2027-01-22T18:00:00Z'), timeZone: 'Europe/Berlin', venue: 'Town Hall' };
const describeEvent = (input: object) =>
  perform(given.database.db, updateEventAction, { eventId: given.gala.eventId, ...EVENT, ...input }, 'test');

/** Returns the e-mail of an offer to the first contact. */
async function receive(fullName?: string) {
  const server = await startMailServer();
  await offer([CONTACTS[0]], fullName);
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  const content = await waitUntil('the offer has come', () => server.mails.find(isOffer)?.content);
  return PostalMime.parse(content);
}

test.for([
  [
    'en',
    /^Your turn on the waiting list: Gala$/,
    /Hello Jörg <b>Müller<\/b>,/,
    /When: Friday,? 22 January 2027 at 19:00/,
    /Where: Town Hall/,
    /Ticket: Front row & dinner/,
    /Number of seats: 2/,
    /Offered until: Wednesday,? 20 January 2027 at 18:30/,
    /go to the shop where you joined the waiting list/,
    /because you joined the waiting list for Gala/,
  ],
  [
    'de',
    /^Sie sind auf der Warteliste an der Reihe: Gala$/,
    /Guten Tag Jörg <b>Müller<\/b>,/,
    /Wann: Freitag, 22. Januar 2027 um 19:00/,
    /Wo: Town Hall/,
    /Karte: Front row & dinner/,
    /Anzahl der Plätze: 2/,
    /Angebot gilt bis: Mittwoch, 20. Januar 2027 um 18:30/,
    /gehen Sie zu dem Shop/,
    /weil diese Adresse auf der Warteliste steht: Gala/,
  ],
] as const)(
  'an offer is sent once, and says what is offered until when: %s',
  async ([language, subject, ...facts]) => {
    await describeEvent({ language });
    const offered = await receive();
    expect(offered.subject).toMatch(subject);
    for (const fact of facts) expect(offered.text).toMatch(fact);
    expect(offered.to).toEqual([{ name: NAME, address: CONTACTS[0] }]);
    expect(offered.html).not.toMatch(/<b>|<img/);
    expect(offered.html).toContain('Front row &#38; dinner');
    expect(offered.attachments).toEqual([]);
    await waitUntil('all are recorded', async () => {
      const { output } = await mail('status', String(given.gala.eventId), '--json');
      return (JSON.parse(output) as { sent: number }[])[0]!.sent === 3;
    });
    expect(await offers()).toMatchObject([{ state: 'sent', reason: null, possiblyTwice: false }]);
  },
);

test('a name with a URL is neither in the greeting nor in the address', async () => {
  const offered = await receive('Win at https://prizes.floodgate-tests.org');
  expect(offered.to).toEqual([{ name: '', address: CONTACTS[0] }]);
  expect(offered.text).toMatch(/^Hello,\r?\n/);
  for (const part of [offered.text, offered.html]) expect(part).not.toContain('prizes');
});

test('an offer that was declined before its e-mail is leased gets none; switched off and on, none is sent twice', async () => {
  const server = await startMailServer();
  const { port } = new URL(server.url);
  await server.stop();
  await enable(given.database.db, given.gala);
  const [declined] = await offer(CONTACTS);
  await startMails(given.database, { SMTP_URL: server.url });
  // Otherwise one could be loaded before it is declined and sent afterwards.
  await waitUntil('all wait for an hour', async () => {
    const [updated] = await makeDue(given.database.db, 'queued', new Date(Date.now() + HOUR_MS));
    return updated?.numUpdatedRows === 4n;
  });
  expect(await leaveWaitingList(given.database.db, given.gala, declined!, LOCK_WITHIN_MS)).toBe(true);
  const again = await startMailServer(Number(port));
  await makeDue(given.database.db, 'queued');
  const settled = () =>
    waitUntil('both are settled', async () => {
      const states = (await offers()).map(({ state, reason }) => [state, reason]);
      return (
        states.length === 2 && states.every(([state]) => state !== 'queued' && state !== 'sending') && states
      );
    });
  expect(await settled()).toEqual([
    ['cancelled', 'offer ended'],
    ['sent', null],
  ]);
  await mail('disable', String(given.gala.eventId));
  await enable(given.database.db, given.gala);
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1, 'later'));
  await waitUntil('a later e-mail has come', () => again.mails.some(({ to }) => to.startsWith('later')));
  expect(again.mails.filter(isOffer).map(({ to }) => to)).toEqual([CONTACTS[1]]);
});

test('offers that wait for their first attempt are no longer queued when e-mails are switched off', async () => {
  const server = await startMailServer();
  await server.stop();
  await enable(given.database.db, given.gala);
  await offer(CONTACTS);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitUntil('all wait for an hour', async () => {
    const [updated] = await makeDue(given.database.db, 'queued', new Date(Date.now() + HOUR_MS));
    return updated?.numUpdatedRows === 4n;
  });
  await mail('disable', String(given.gala.eventId));
  expect(await offers()).toEqual([]);
});

test('offers of a test event stay inside: none is sent to a server, and the mailcatcher shows them', async () => {
  await given.useEvent({ mode: 'test' }, TICKET);
  const server = await startMailServer();
  await enable(given.database.db, given.gala);
  const process = await startMails(given.database, { SMTP_URL: server.url });
  await offer([CONTACTS[0]]);
  await waitUntil('the journal was read', async () => {
    const { rows } = await sql<{ read: boolean }>`
      select last_offset = (select last_offset from journal_heads where shard_id = ${given.gala.shardId}) as read
      from journal_consumers where shard_id = ${given.gala.shardId} and event_id = ${given.gala.eventId}`.execute(
      given.database.db,
    );
    return rows[0]!.read;
  });
  expect([server.mails, await offers()]).toEqual([[], []]);
  await process.end();

  await mail('disable', String(given.gala.eventId));
  const { baseUrl } = await startMails(given.database, { MAILCATCHER_SIZE: '9' });
  await enable(given.database.db, given.gala);
  await waitUntil('it was caught', async () => (await offers()).some(({ state }) => state === 'sent'));
  const list = await (await fetch(`${baseUrl}/mailcatcher`)).text();
  expect(list).toContain('Your turn on the waiting list: Gala');
});

test('an offer to a suppressed or reserved address is not sent', async () => {
  const server = await startMailServer();
  const entry = { digest: digestOf(CONTACTS[0]), reason: 'test', event_id: given.gala.eventId };
  await given.database.db.insertInto('mail_suppressions').values(entry).execute();
  await enable(given.database.db, given.gala);
  await offer(['jane@nobody.example', CONTACTS[0]]);
  await startMails(given.database, { SMTP_URL: server.url });
  const ended = () =>
    waitUntil('both have ended', async () => {
      const reasons = (await offers()).map(({ state, reason }) => `${state} ${reason}`);
      return reasons.filter((reason) => reason.startsWith('suppressed')).length === 2 && reasons;
    });
  expect(await ended()).toEqual(['suppressed reserved address', 'suppressed suppressed']);
});

test('floodgate mail preview --offer writes an offer with made-up data', async () => {
  await using directory = await temporaryDirectory();
  await describeEvent({});
  const options = ['--offer', '--language', 'de', '--out', directory.file('offer')];
  expect(await mail('preview', String(given.gala.eventId), ...options)).toMatchObject({ code: 0 });
  const { subject, text, attachments } = await PostalMime.parse(
    await readFile(directory.file('offer/mail.eml')),
  );
  expect(subject).toBe('Sie sind auf der Warteliste an der Reihe: Gala');
  expect(text).toMatch(
    /Guten Tag Ada Lovelace,[^]*Karte: Standard[^]*Anzahl der Plätze: 2[^]*Angebot gilt bis: /,
  );
  expect(attachments).toEqual([]);
});
