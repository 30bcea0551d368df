import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { disableMailAction } from '@floodgate/mail/actions';
import { changeRegistrations, expireHolds, replaceAttendee, reserveBatch } from '@floodgate/registrations';
import { indexAttendees } from '@floodgate/registrations/find';
import { sql } from 'kysely';
import PostalMime from 'postal-mime';
import { beforeEach, expect } from 'vitest';
import { calendarOf } from '../harness/calendar-file.ts';
import { emptyTables } from '../harness/empty-tables.ts';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { startMailServer, type MailServer } from '../harness/mail-server.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { waitUntil } from '../harness/wait-until.ts';
import {
  addresses,
  confirm,
  deliveriesOf,
  enable,
  makeDue,
  startMails,
  waitForState,
} from './mail-process.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

// An attendee hears of a cancellation, by real delivery processes into a real SMTP server.

test.override('ticket', { capacity: 100_000 });

const [ADDRESS] = addresses(1) as [string];
const STARTS = { startsAt: new Date('2027-01-22T18:00:00Z'), timeZone: 'Europe/Berlin' };
let server: MailServer;

beforeEach(async () => {
  await emptyTables(given.db, 'journal_consumers', 'deliveries', 'mail_suppressions');
  server = await startMailServer();
});

const describeEvent = (input: object) =>
  perform(given.db, updateEventAction, { eventId: given.gala.eventId, ...input }, 'test');
const confirmThese = (these: readonly string[]) => confirm(given.db, given.gala, given.ticketId, these);
const cancellations = () => deliveriesOf(given.db, given.gala, 'cancellation');
const start = () => startMails(given.database, { SMTP_URL: server.url });

/** The registrations of the event that are not cancelled. */
async function valid() {
  const { partnerId, eventId } = given.gala;
  const rows = await tablesOf(given.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code as passCode'])
    .where('event_id', '=', eventId)
    .where('cancelled_at', 'is', null)
    .orderBy('serial')
    .execute();
  return rows.map((row) => ({ ...row, partnerId, eventId }));
}

/** Cancels registrations, and publishes it. */
async function cancel(byOperator: boolean, registrations?: Awaited<ReturnType<typeof valid>>) {
  const due = registrations ?? (await valid());
  const outcomes = await changeRegistrations(given.db, given.gala.shardId, 'cancelled', due, { byOperator });
  expect(new Set(outcomes)).toEqual(new Set(['cancelled']));
  await finalizePending(given.db, given.gala.shardId);
}

/** Waits until the e-mails have read the whole journal, and no cancellation waits. */
const settled = () =>
  waitUntil('everything is settled', async () => {
    const { rows } = await sql<{ isRead: boolean }>`
      select last_offset >= (select last_offset from journal_heads where shard_id = c.shard_id) as "isRead"
      from journal_consumers c where event_id = ${given.gala.eventId}`.execute(given.db);
    const open = (await cancellations()).filter(({ state }) =>
      ['queued', 'sending', 'retry'].includes(state),
    );
    return rows[0]!.isRead && open.length === 0;
  });

const isCancellation = ({ messageId }: { messageId: string }) => messageId.startsWith('<cancelled.');
const cancelledMails = () => server.mails.filter(isCancellation);

/** Stores another end of the confirmation than the one that it had. */
const setConfirmation = (fields: object) =>
  tablesOf(given.db).updateTable('deliveries').set(fields).where('kind', '=', 'confirmation').execute();
const NEVER_SENT = { state: 'undeliverable', sent_at: null, reason: '550 5.1.1' } as const;
const IN_DOUBT = { state: 'cancelled', sent_at: null, possibly_twice: true } as const;

test.for([
  ['an operator', {}, {}, 1],
  ['an operator', { mailOperatorCancels: false }, {}, 0],
  ['an operator', { mailPartnerCancels: true }, {}, 1],
  ['the partner', {}, {}, 0],
  ['the partner', { mailPartnerCancels: true }, {}, 1],
  ['the partner', { mailOperatorCancels: false }, {}, 0],
  ['an operator', {}, NEVER_SENT, 0],
  ['the partner', { mailPartnerCancels: true }, NEVER_SENT, 0],
  ['an operator', {}, IN_DOUBT, 1],
  ['the partner', { mailPartnerCancels: true }, IN_DOUBT, 1],
] as const)('if %s cancels, with the settings %o and the confirmation %o: %i e-mails', async (row) => {
  const [who, settings, confirmation, count] = row;
  await describeEvent({ ...STARTS, ...settings });
  await enable(given.db, given.gala);
  await start();
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'sent', 1);
  if (Object.keys(confirmation).length > 0) await setConfirmation(confirmation);
  await cancel(who === 'an operator');
  await settled();
  expect(cancelledMails().map(({ to }) => to)).toEqual(addresses(count));
  expect(server.mails).toHaveLength(1 + count);
});

test('an e-mail about a cancellation names what was cancelled, and removes the event from the calendar', async () => {
  await describeEvent({ ...STARTS, venue: 'Town Hall', replyTo: 'help@floodgate-tests.org' });
  await enable(given.db, given.gala);
  await start();
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'sent', 1);
  const [one] = await valid();
  await cancel(true);
  await settled();
  const [confirmed, cancelled] = server.mails;
  const mail = await PostalMime.parse(cancelled!.content);
  expect(mail.subject).toBe('Cancelled: Gala');
  expect(mail.replyTo).toMatchObject([{ address: 'help@floodgate-tests.org' }]);
  for (const text of [
    'Your registration for Gala was cancelled.',
    'When: Friday',
    'Where: Town Hall',
    `Pass reference: GALA-${one!.eventId}-${one!.serial}-${one!.passCode}`,
    'The attached file removes the event from your calendar.',
  ])
    expect(mail.text).toContain(text);
  expect(mail.attachments.map(({ mimeType }) => mimeType)).toEqual(['text/calendar']);
  const [added, removed] = [calendarOf(confirmed!)!, calendarOf(cancelled!)!];
  expect([added.method, removed.method]).toEqual(['PUBLISH', 'CANCEL']);
  expect(removed.event.uid).toBe(added.event.uid);
  expect(removed.event.sequence).toBeGreaterThan(added.event.sequence);
  expect(added.event.description).toContain(`Pass reference: GALA-${one!.eventId}-${one!.serial}`);
});

test('it is in the language of the event, and without a time it has no calendar file', async () => {
  await describeEvent({ language: 'de' });
  await enable(given.db, given.gala);
  await start();
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'sent', 1);
  await cancel(true);
  await settled();
  const mail = await PostalMime.parse(cancelledMails()[0]!.content);
  expect(mail.subject).toBe('Storniert: Gala');
  expect(mail.text).toContain('Diese Eintrittskarte gilt am Einlass nicht mehr.');
  expect(mail.text).not.toContain('Kalender');
  expect(calendarOf(cancelledMails()[0]!)).toBeUndefined();
});

test('the event stays in the calendar as long as the address has another registration', async () => {
  await describeEvent(STARTS);
  await enable(given.db, given.gala);
  await start();
  await confirmThese([ADDRESS, ADDRESS.toUpperCase()]);
  await waitForState(given.db, given.gala, 'sent', 2);
  await indexAttendees(given.db, given.gala.shardId, 1_000);
  const [first, second] = await valid();
  await cancel(true, [first!]);
  await settled();
  const [one] = cancelledMails();
  expect(calendarOf(one!)).toBeUndefined();
  expect((await PostalMime.parse(one!.content)).text).toContain(
    'Your passes with another pass reference are not affected.',
  );
  await cancel(true, [second!]);
  await settled();
  expect(calendarOf(cancelledMails()[1]!)!.method).toBe('CANCEL');
});

test('someone who cancels, comes back and cancels again has a calendar that follows', async () => {
  await describeEvent(STARTS);
  await enable(given.db, given.gala);
  await start();
  const { rows } = await sql<{ createdAt: Date }>`
    select created_at as "createdAt" from events where id = ${given.gala.eventId}`.execute(given.db);
  const second = () => Math.floor((Date.now() - rows[0]!.createdAt.getTime()) / 1_000);
  for (const round of [1, 2]) {
    await confirmThese([ADDRESS]);
    await waitForState(given.db, given.gala, 'sent', round);
    await cancel(true);
    await settled();
    // Files of one second of the event would have the same version.
    const last = second();
    await waitUntil('the next second of the event', () => second() > last);
  }
  const files = server.mails.map(calendarOf);
  expect(files.map((file) => file!.method)).toEqual(['PUBLISH', 'CANCEL', 'PUBLISH', 'CANCEL']);
  const sequences = files.map((file) => file!.event.sequence);
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  expect(new Set(sequences).size).toBe(4);
});

test('a registration that is cancelled before its confirmation was sent gets neither', async () => {
  const { port } = new URL(server.url);
  await server.stop();
  await enable(given.db, given.gala);
  await confirmThese(addresses(2));
  await start();
  await waitUntil('both wait for an hour', async () => {
    const [updated] = await makeDue(given.db, 'queued', new Date(Date.now() + 3_600_000));
    return updated?.numUpdatedRows === 2n;
  });
  const [first] = await valid();
  await cancel(true, [first!]);
  server = await startMailServer(Number(port));
  await makeDue(given.db, 'queued');
  await waitForState(given.db, given.gala, 'sent', 1);
  await settled();
  expect(server.mails.map(({ to }) => to)).toEqual(addresses(2).slice(1));
  expect(await cancellations()).toMatchObject([{ state: 'cancelled', reason: 'no confirmation' }]);
});

test('one that is cancelled before it was confirmed gets neither, and is stored nowhere', async () => {
  await enable(given.db, given.gala);
  await start();
  await reserveBatch(given.db, randomUUID(), [
    reservationOf(given.gala, given.ticketId, { emailAddress: ADDRESS }),
  ]);
  await cancel(true);
  await settled();
  expect([server.mails, await cancellations(), await deliveriesOf(given.db, given.gala)]).toEqual([
    [],
    [],
    [],
  ]);
});

test('one whose confirmation is being sent hears of the cancellation after it', async () => {
  const { promise: isCancelled, resolve: go } = Promise.withResolvers<undefined>();
  server.onMessage = () => isCancelled;
  await enable(given.db, given.gala);
  await start();
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'sending', 1);
  await cancel(true);
  await waitUntil('the cancellation waits', async () => (await cancellations()).length === 1);
  expect(server.mails).toEqual([]);
  go(undefined);
  await settled();
  expect(server.mails.map(isCancellation)).toEqual([false, true]);
});

test('the attendee of a registration that another got has no e-mail about it', async () => {
  await enable(given.db, given.gala);
  await start();
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'sent', 1);
  const [one] = await valid();
  const attendee = { fullName: 'Joe Doe', emailAddress: 'joe@mail.floodgate-tests.org' };
  await replaceAttendee(given.db, given.gala.shardId, { ...one!, attendee, attendeeDigest: null }, 0, true);
  await finalizePending(given.db, given.gala.shardId);
  await waitForState(given.db, given.gala, 'sent', 2);
  await settled();
  expect(server.mails.map(({ to }) => to)).toEqual([ADDRESS, attendee.emailAddress]);
  const entries = await journalOf(given.db, given.gala);
  expect(entries.map(({ kind, byOperator }) => [kind, byOperator])).toEqual([
    ['confirmed', null],
    ['confirmed', null],
    ['cancelled', null],
  ]);
});

test('an expired hold is cancelled by nobody', async () => {
  await reserveBatch(given.db, randomUUID(), [
    reservationOf(given.gala, given.ticketId, { emailAddress: ADDRESS, holdSeconds: 60 }),
  ]);
  await finalizePending(given.db, given.gala.shardId);
  await endHolds(given.db, given.gala);
  expect(await expireHolds(given.db, given.gala.shardId, 100)).toBe(1);
  await finalizePending(given.db, given.gala.shardId);
  const entries = await journalOf(given.db, given.gala);
  expect(entries.map(({ kind, byOperator }) => [kind, byOperator])).toEqual([['cancelled', null]]);
});

test('cancellations of an API of an earlier release, which does not say who cancelled, get no e-mail', async () => {
  await enable(given.db, given.gala);
  await describeEvent({ mailPartnerCancels: true });
  await start();
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'sent', 1);
  const [{ serial, passCode, partnerId, eventId }] = (await valid()) as [
    Awaited<ReturnType<typeof valid>>[0],
  ];
  await sql`
    select change_registrations(${given.gala.shardId}::integer, 0, 'cancelled', array[${serial}]::bigint[],
      array[${partnerId}]::integer[], array[${eventId}]::integer[], array[${passCode}]::bigint[],
      array[null]::timestamptz[])`.execute(given.db);
  await finalizePending(given.db, given.gala.shardId);
  await settled();
  expect(cancelledMails()).toEqual([]);
});

test('the journal says who cancelled each, in one publication too', async () => {
  await confirmThese(addresses(6));
  const all = await valid();
  const cancelThese = (byOperator: boolean, odd: number) =>
    changeRegistrations(
      given.db,
      given.gala.shardId,
      'cancelled',
      all.filter((_, index) => index % 2 === odd),
      { byOperator },
    );
  await cancelThese(true, 0);
  await cancelThese(false, 1);
  await finalizePending(given.db, given.gala.shardId);
  const entries = (await journalOf(given.db, given.gala)).filter(({ kind }) => kind === 'cancelled');
  const byOperator = new Map(entries.map((entry) => [entry.serial, entry.byOperator]));
  expect(all.map(({ serial }) => byOperator.get(serial))).toEqual([true, false, true, false, true, false]);
  expect(entries).toHaveLength(6);
});

test('a cancellation that the settings excluded stays unsent, whatever happens later', async () => {
  await enable(given.db, given.gala);
  await start();
  await confirmThese(addresses(2));
  await waitForState(given.db, given.gala, 'sent', 2);
  const [first, second] = await valid();
  await cancel(false, [first!]);
  await settled();
  await describeEvent({ mailPartnerCancels: true });
  await perform(given.db, disableMailAction, { eventId: given.gala.eventId }, 'test');
  // While e-mails are off, it is only put off.
  await cancel(false, [second!]);
  await enable(given.db, given.gala);
  await waitUntil('the second hears of it', () => cancelledMails().length === 1);
  await settled();
  expect(cancelledMails().map(({ to }) => to)).toEqual([addresses(2)[1]]);
  expect((await cancellations()).map(({ state, reason }) => [state, reason])).toEqual([
    ['cancelled', 'switched off'],
    ['sent', null],
  ]);
});

test('an address that was refused permanently since then is not written to', async () => {
  await enable(given.db, given.gala);
  await start();
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'sent', 1);
  server.onRecipient = () => ({ responseCode: 550, message: '5.1.1 no such user' });
  await confirmThese([ADDRESS]);
  await waitForState(given.db, given.gala, 'undeliverable', 1);
  await cancel(true);
  await settled();
  expect((await cancellations()).map(({ state, reason }) => [state, reason])).toEqual([
    ['suppressed', 'suppressed'],
    ['cancelled', 'no confirmation'],
  ]);
});
