import { randomUUID } from 'node:crypto';
import { digestOfAttendee, reserveBatch } from '@floodgate/registrations';
import { beforeEach, expect } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { startMailServer, type MailServer, type ReceivedMail } from '../harness/mail-server.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, confirm, enable, startMails, waitForState } from './mail-process.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

test.override('event', { duplicatePolicy: 'reject' });
test.override('ticket', {});

let server: MailServer;
let env: { DATABASE_URL: string; SMTP_URL: string };
const guests = addresses(2);

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries');
  server = await startMailServer();
  env = { DATABASE_URL: given.database.url, SMTP_URL: server.url };
  keepPrivate(guests);
  const reservations = guests.map((emailAddress) =>
    reservationOf(given.gala, given.ticketId, {
      emailAddress,
      attendeeDigest: digestOfAttendee(
        { duplicatePolicy: 'reject', duplicateScope: 'event' },
        given.ticketId,
        emailAddress,
      ),
    }),
  );
  await reserveBatch(given.database.db, randomUUID(), reservations);
  await finalizePending(given.database.db, given.gala.shardId);
});

const floodgate = (...args: string[]) => runCli(env, ...args);

async function references(): Promise<string[]> {
  const rows = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('event_id', '=', given.gala.eventId)
    .orderBy('serial')
    .execute();
  return rows.map(({ serial, pass_code: code }) => `GALA-${given.gala.eventId}-${serial}-${code}`);
}

const received = (count: number) =>
  waitUntil(`${count} e-mails have arrived`, () => server.mails.length >= count && server.mails);

/** The recipients of the first e-mails, which leave in any order, and of the one after them. */
const recipients = (mails: readonly ReceivedMail[]) => [
  mails
    .slice(0, 2)
    .map(({ to }) => to)
    .toSorted(),
  ...mails.slice(2).map(({ to }) => to),
];

async function sendToAll(): Promise<void> {
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', guests.length);
}

test('one pass is sent again, as another e-mail, and nobody else gets one', async () => {
  await sendToAll();
  const [first] = await references();
  expect(await floodgate('mail', 'resend', first!)).toMatchObject({ code: 0 });
  const mails = await received(3);
  await waitForState(given.database.db, given.gala, 'sent', 2);
  expect(recipients(mails)).toEqual([guests, guests[0]]);
  // Programs that have the first e-mail would hide a second one with its id.
  expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(3);
});

test('all passes of an event are sent again, but for those that are cancelled', async () => {
  await sendToAll();
  const [first] = await references();
  await floodgate('event', 'update', String(given.gala.eventId), '--mail-operator-cancels', 'false');
  await floodgate('registration', 'cancel', first!);
  const { output } = await floodgate('mail', 'resend-all', String(given.gala.eventId));
  expect(output).toContain('2 e-mails are queued');
  await waitForState(given.database.db, given.gala, 'cancelled', 1);
  expect(recipients(await received(3))).toEqual([guests, guests[1]]);
});

test('a pass that is queued again is not forgotten when e-mails are switched off and on', async () => {
  await sendToAll();
  const event = String(given.gala.eventId);
  server.onRecipient = () => ({ responseCode: 421, message: 'later' });
  await floodgate('mail', 'resend-all', event);
  await floodgate('mail', 'disable', event);
  server.onRecipient = () => undefined;
  await floodgate('mail', 'enable', event);
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1, 'later'));
  await waitForState(given.database.db, given.gala, 'sent', 3);
  // Nobody gets a second e-mail by that, except one whose attempt was running.
  expect(server.mails.filter(({ to }) => to.startsWith('later'))).toHaveLength(1);
  expect(server.mails.filter(({ to }) => to === guests[0]).length).toBeLessThanOrEqual(2);
});

test('a corrected name and address are those of the next e-mail, and the audit log has neither', async () => {
  await sendToAll();
  const [first] = await references();
  const right = 'right@mail.floodgate-tests.org';
  keepPrivate([right]);
  const options = ['--full-name', 'Ada Right', '--email-address', right];
  expect((await floodgate('registration', 'correct', first!, ...options)).code).toBe(0);
  await floodgate('mail', 'resend', first!);
  const mail = (await received(3))[2]!;
  expect(mail.to).toBe(right);
  expect(mail.content).toContain('To: Ada Right <right@');
  const log = (await floodgate('audit', '--json')).output;
  expect(log).toContain('"corrected"');
  expect(log).not.toMatch(/Ada Right|right@/);
});

test('an address is corrected to none that the event has already', async () => {
  const [first] = await references();
  const taken = await floodgate('registration', 'correct', first!, '--email-address', guests[1]!);
  expect(taken).toEqual({ code: 1, output: expect.stringContaining('the event allows one') });
  const back = await floodgate(
    'registration',
    'correct',
    first!,
    '--email-address',
    guests[0]!.toUpperCase(),
  );
  expect(back.code).toBe(0);
});

test.for([
  [['--email-address', 'nobody'], 2, 'an e-mail address'],
  [['--full-name', ''], 2, '--full-name: 1 to 255 characters'],
  [[], 2, 'nothing to correct'],
] as const)('the correction %o is refused', async ([options, code, reason]) => {
  const [first] = await references();
  const answer = await floodgate('registration', 'correct', first!, ...options);
  expect(answer).toEqual({ code, output: expect.stringContaining(reason) });
});

test('without e-mails there is nothing to send again', async () => {
  const [first] = await references();
  const answer = await floodgate('mail', 'resend', first!);
  expect(answer).toEqual({ code: 1, output: expect.stringContaining('are not enabled') });
});

test('a test e-mail arrives, or the command says why not', async () => {
  const to = 'operator@mail.floodgate-tests.org';
  keepPrivate([to]);
  expect((await floodgate('mail', 'test', '--to', to)).code).toBe(0);
  expect(server.mails).toMatchObject([{ to }]);
  server.onRecipient = () => ({ responseCode: 550, message: '5.1.1 no such mailbox' });
  const refused = await floodgate('mail', 'test', '--to', to);
  expect(refused).toEqual({ code: 1, output: expect.stringContaining('refused the e-mail (550 5.1.1)') });
  await server.stop();
  const away = await floodgate('mail', 'test', '--to', to);
  expect(away).toEqual({ code: 1, output: expect.stringContaining('cannot be used (E') });
  const none = await runCli({ DATABASE_URL: given.database.url }, 'mail', 'test', '--to', to);
  expect(none).toEqual({ code: 1, output: expect.stringContaining('set SMTP_URL') });
});
