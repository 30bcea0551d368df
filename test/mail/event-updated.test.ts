import { perform } from '@floodgate/audit';
import { cancelRegistrationAction } from '@floodgate/registrations/actions';
import { sql } from 'kysely';
import PostalMime from 'postal-mime';
import { beforeEach, expect } from 'vitest';
import { calendarOf } from '../harness/calendar-file.ts';
import { emptyTables } from '../harness/empty-tables.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { runCli } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, confirm, deliveriesOf, enable, startMails, waitForState } from './mail-process.ts';
import { eventTest } from '../harness/event-test.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

// An event moves after its e-mails were sent.

test.override('ticket', {});

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries');
});

const describeEvent = async (...options: string[]) => {
  const env = { DATABASE_URL: given.database.url };
  return (await runCli(env, 'event', 'update', String(given.gala.eventId), ...options)).output;
};

async function cancelLast(): Promise<void> {
  const { serial, pass_code } = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('event_id', '=', given.gala.eventId)
    .orderBy('serial', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  const passReference = `GALA-${given.gala.eventId}-${serial}-${pass_code}`;
  await perform(given.database.db, cancelRegistrationAction, { passReference }, 'test');
}

const STARTS = '2027-01-22T18:00:00Z';

test.for([
  ['set', [], 'Europe/Berlin', true],
  ['changed', ['Europe/London'], 'Europe/Berlin', true],
  ['changed to half hours', ['Europe/London'], 'Asia/Kolkata', true],
  ['changed to one with the same offset', ['Europe/Berlin'], 'Europe/Paris', true],
  ['removed', ['Europe/Berlin'], 'none', true],
  ['set again to what it was', ['Europe/Berlin'], 'Europe/Berlin', false],
  ['set to none, which it was', [], 'none', false],
] as const)(
  'e-mails are out of date if the zone was %s: %o, then %s',
  async ([, before, zone, isOutdated]) => {
    await describeEvent('--starts', STARTS, ...before.flatMap((name) => ['--time-zone', name]));
    await addSent();
    const output = await describeEvent('--time-zone', zone);
    expect(output.includes('1 e-mails with the old name, time or place')).toBe(isOutdated);
  },
);

test('the zone is part of what holders were told, only if they were told a time', async () => {
  await addSent();
  expect(await describeEvent('--time-zone', 'Asia/Kolkata')).not.toContain('Warning');
});

/** Stores that an e-mail was sent. */
const addSent = () =>
  sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, sent_at)
    values (${given.gala.shardId}, ${given.gala.eventId}, 'confirmation', '1', 'sent', now())`.execute(
    given.db,
  );

test('an update says what this attendee was told last, after several changes too', async () => {
  const server = await startMailServer();
  const notifyAll = () => describeEvent('--notify-holders');
  const textsTo = async (address: string) =>
    Promise.all(
      server.mails
        .filter(({ to }) => to === address)
        .map(async ({ content }) => (await PostalMime.parse(content)).text!.replaceAll('\r\n', '\n')),
    );
  const [early, late] = ['early@mail.floodgate-tests.org', 'late@mail.floodgate-tests.org'];
  await describeEvent('--starts', STARTS, '--time-zone', 'Europe/Berlin', '--venue', 'Town Hall');
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await confirm(given.database.db, given.gala, given.ticketId, [early]);
  await waitForState(given.database.db, given.gala, 'sent', 1);
  await describeEvent('--venue', 'Old Theatre', '--cancel-until', '2027-01-01T00:00:00Z');
  await confirm(given.database.db, given.gala, given.ticketId, [late]);
  await waitForState(given.database.db, given.gala, 'sent', 2);
  await notifyAll();
  await waitUntil('the first is told of the theatre', () => server.mails.length === 3);
  await waitUntil('it is recorded', async () =>
    (await deliveriesOf(given.database.db, given.gala, 'event-updated')).every(
      ({ state }) => state === 'sent',
    ),
  );
  await describeEvent('--starts', '2027-01-23T18:00:00Z', '--venue', 'Arena', '--language', 'de');
  await notifyAll();
  await waitUntil('both are told of the arena', () => server.mails.length === 5);
  const [, theatre, arena] = await textsTo(early);
  expect(theatre).toContain('Where: Old Theatre\n');
  expect(theatre).toContain('Old place: Town Hall\n');
  expect(theatre).not.toContain('Old time');
  const [, alsoArena] = await textsTo(late);
  for (const text of [arena, alsoArena]) {
    expect(text).toContain('Wo: Arena\n');
    expect(text).toMatch(/Bisherige Zeit: Freitag, 22\. Januar 2027 um 19:00 Mitteleuropäische Normalzeit\n/);
    expect(text).toContain('Bisheriger Ort: Old Theatre\n');
  }
});

test('an update of e-mails of an earlier release does not guess what they said', async () => {
  const server = await startMailServer();
  await describeEvent('--starts', STARTS, '--venue', 'Town Hall');
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1));
  await waitForState(given.database.db, given.gala, 'sent', 1);
  await sql`delete from event_revisions`.execute(given.db);
  await sql`update events set revision = revision + 1 where id = ${given.gala.eventId}`.execute(given.db);
  await describeEvent('--venue', 'Arena', '--notify-holders');
  await waitUntil('the update has arrived', () => server.mails.length === 2);
  const { text } = await PostalMime.parse(server.mails[1]!.content);
  expect(text).toContain('Where: Arena');
  expect(text).not.toContain('Old');
});

test('everybody whose e-mail is out of date gets the new time once, with a calendar entry that replaces the old one', async () => {
  const server = await startMailServer();
  await describeEvent('--starts', '2027-01-22T18:00:00Z');
  await confirm(given.database.db, given.gala, given.ticketId, addresses(3));
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', 3);
  await cancelLast();
  const warning = await describeEvent('--starts', '2027-01-29T18:00:00Z');
  expect(warning).toContain('3 e-mails with the old name, time or place were sent');
  expect(await describeEvent('--notify-holders')).toContain('3 e-mails with the time and place are queued');
  const updates = () => deliveriesOf(given.database.db, given.gala, 'event-updated');
  await waitUntil('all are settled', async () =>
    (await updates()).every(({ state }) => state === 'sent' || state === 'cancelled'),
  );
  expect((await updates()).map(({ state }) => state)).toEqual(['sent', 'sent', 'cancelled']);

  // Those who are confirmed from now on are told the new time with their pass.
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1, 'later'));
  await waitForState(given.database.db, given.gala, 'sent', 4);
  expect(await describeEvent('--notify-holders')).toContain('0 e-mails');
  const [first] = addresses(1);
  const [before, after, ...more] = server.mails.filter(({ to }) => to === first);
  expect(more).toEqual([]);
  const [old, updated] = [calendarOf(before!)!.event, calendarOf(after!)!.event];
  expect(updated.uid).toBe(old.uid);
  expect(updated.sequence).toBeGreaterThan(old.sequence);
  expect(updated.startDate.toJSDate()).toEqual(new Date('2027-01-29T18:00:00Z'));
  const { subject, text } = await PostalMime.parse(after!.content);
  expect(subject).toBe('New time or place: Gala');
  expect(text).toContain('The pass that you already have stays valid.');
  expect(text).toMatch(/When: Friday,? 29 January 2027 at 18:00 Coordinated Universal Time/);
  expect(text).toMatch(/Old time: Friday,? 22 January 2027 at 18:00 Coordinated Universal Time/);
  expect(text).not.toContain('Old place');
  expect(updated.description).toMatch(/^Ticket: Standing\nPass reference: GALA-/);
  const later = server.mails.filter(({ to }) => to.startsWith('later'));
  expect(later).toHaveLength(1);
});
