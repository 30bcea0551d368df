import { perform } from '@floodgate/audit';
import { cancelRegistrationAction } from '@floodgate/registrations/actions';
import ICAL from 'ical.js';
import { sql } from 'kysely';
import PostalMime from 'postal-mime';
import { beforeEach, expect } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { startMailServer, type ReceivedMail } from '../harness/mail-server.ts';
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

async function calendarOf({ content }: ReceivedMail) {
  const { attachments } = await PostalMime.parse(content);
  const file = attachments.find(({ mimeType }) => mimeType === 'text/calendar')!.content as ArrayBuffer;
  const calendar = new ICAL.Component(ICAL.parse(Buffer.from(file).toString()) as []);
  return new ICAL.Event(calendar.getFirstSubcomponent('vevent')!);
}

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

test('the zone is part of what holders were told, once there is a time', async () => {
  await confirm(given.database.db, given.gala, given.ticketId, addresses(2));
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, sent_at)
    values (${given.gala.shardId}, ${given.gala.eventId}, 'confirmation', '1', 'sent', now())`.execute(
    given.db,
  );
  expect(await describeEvent('--time-zone', 'Asia/Kolkata')).not.toContain('Warning');
  await describeEvent('--starts', '2027-01-22T18:00:00Z');
  expect(await describeEvent('--time-zone', 'Europe/Berlin')).toContain(
    '1 e-mails with the old name, time or place',
  );
  expect(await describeEvent('--time-zone', 'Europe/Berlin')).not.toContain('Warning');
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
  const [old, updated] = [await calendarOf(before!), await calendarOf(after!)];
  expect(updated.uid).toBe(old.uid);
  expect(updated.sequence).toBeGreaterThan(old.sequence);
  expect(updated.startDate.toJSDate()).toEqual(new Date('2027-01-29T18:00:00Z'));
  const { subject, text } = await PostalMime.parse(after!.content);
  expect(subject).toBe('New time or place: Gala');
  expect(text).toContain('The pass that you already have stays valid.');
  const later = server.mails.filter(({ to }) => to.startsWith('later'));
  expect(later).toHaveLength(1);
});
