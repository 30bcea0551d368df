import { readFile } from 'node:fs/promises';
import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { createPassSigner, jwkSetOf, verifyPass } from '@floodgate/passes';
import ICAL from 'ical.js';
import PostalMime, { type Email } from 'postal-mime';
import { beforeEach, expect } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { readQrCode } from '../harness/passes.ts';
import { runCli } from '../harness/service-process.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { addresses, confirm, enable, startMails, waitForState } from './mail-process.ts';
import { eventTest } from '../harness/event-test.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

// What an e-mail holds, read by a parser that is not ours.

test.override('ticket', { title: 'Front row & dinner' });

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries');
});

const NAME = 'Jörg "the <b>Bold</b>" Müller';
const [ADDRESS] = addresses(1, 'joerg') as [string];

/** Has an attendee registered and confirmed, and returns the e-mail that they get. */
async function receive(fullName = NAME): Promise<Email> {
  const server = await startMailServer();
  await confirm(given.database.db, given.gala, given.ticketId, [ADDRESS], fullName);
  await enable(given.database.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', 1);
  return PostalMime.parse(server.mails[0]!.content);
}

const describeEvent = (input: object) =>
  perform(given.database.db, updateEventAction, { eventId: given.gala.eventId, ...input }, 'test');

const attachmentOf = ({ attachments }: Email, type: string) =>
  attachments.find(({ mimeType }) => mimeType === type);

const bytesOf = (mail: Email, type: string) => Buffer.from(attachmentOf(mail, type)!.content as ArrayBuffer);

/** The public keys, as a door has them. */
const publicKeys = async () => (await createPassSigner(given.database).keys()).publicKeys;

test('its picture is a pass that verifies with the public keys alone, and the HTML shows it', async () => {
  const mail = await receive();
  const token = readQrCode(bytesOf(mail, 'image/png'));
  const keys = await publicKeys();
  expect(jwkSetOf({ publicKeys: keys }).keys).toHaveLength(1);
  const { serial } = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('serial')
    .where('event_id', '=', given.gala.eventId)
    .executeTakeFirstOrThrow();
  expect(verifyPass(token, keys)).toMatchObject({
    eventId: given.gala.eventId,
    ticketId: given.ticketId,
    serial,
  });
  const { contentId, disposition } = attachmentOf(mail, 'image/png')!;
  expect(disposition).toBe('inline');
  expect(mail.html).toContain(`src="cid:${contentId!.slice(1, -1)}"`);
});

test('it is addressed to the attendee, from the sender that is set, and answered by the event', async () => {
  await describeEvent({ replyTo: 'help@floodgate-tests.org', language: 'de' });
  const mail = await receive();
  expect(mail.to).toEqual([{ name: NAME, address: ADDRESS }]);
  expect(mail.from).toMatchObject({ name: 'The Gala', address: 'gala@floodgate-tests.org' });
  expect(mail.replyTo).toMatchObject([{ address: 'help@floodgate-tests.org' }]);
  expect(mail.subject).toBe('Ihre Eintrittskarte: Gala');
  const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
  expect(headers).toMatchObject({ 'auto-submitted': 'auto-generated', 'content-language': 'de' });
});

test('what attendees and operators wrote is text, in the HTML too', async () => {
  await describeEvent({ venue: '<img src=x onerror=alert(1)>' });
  const mail = await receive();
  expect(mail.html).not.toMatch(/<b>|<img src=x/);
  expect(mail.html).toContain('&#60;b&#62;Bold');
  expect(mail.html).toContain('Front row &#38; dinner');
  expect(mail.text).toContain(NAME);
  expect(mail.text).toContain('Where: <img src=x onerror=alert(1)>');
});

test('a calendar file is attached where the event has a time, and reads as the event', async () => {
  const [startsAt, endsAt] = [new Date('2027-01-22T18:00:00Z'), new Date('2027-01-23T00:00:00Z')];
  await describeEvent({
    startsAt,
    endsAt,
    venue: 'Town Hall; Main Street 1, Bonn',
    timeZone: 'Europe/Berlin',
  });
  const mail = await receive();
  const calendar = new ICAL.Component(ICAL.parse(bytesOf(mail, 'text/calendar').toString()) as []);
  const event = new ICAL.Event(calendar.getFirstSubcomponent('vevent')!);
  expect(event.startDate.toJSDate()).toEqual(startsAt);
  expect(event.endDate.toJSDate()).toEqual(endsAt);
  expect([event.summary, event.location]).toEqual(['Gala', 'Town Hall; Main Street 1, Bonn']);
  expect(event.uid).toBe(given.gala.eventRef);
  expect(mail.text).toMatch(/When: Friday,? 22 January 2027 at 19:00/);
});

test('without a time there is no calendar file, and nothing that speaks of one', async () => {
  const mail = await receive();
  expect(attachmentOf(mail, 'text/calendar')).toBeUndefined();
  expect(mail.html).not.toContain('calendar');
  expect(mail.text).not.toContain('When');
});

test('a name cannot add headers or recipients', async () => {
  const mail = await receive('Eve, other@floodgate-tests.org <evil@floodgate-tests.org>;');
  expect(mail.to).toMatchObject([{ address: ADDRESS }]);
  expect(mail.cc ?? []).toEqual([]);
});

test.for([
  'Win a prize at https://prizes.floodgate-tests.org/now',
  'Claim your refund: www.floodgate-tests.org',
  'You won, see floodgate-tests.org/prize',
  'Ask prizes@floodgate-tests.org',
  'X.com',
])('a name with a URL is neither in the greeting nor in the address: %s', async (name) => {
  const mail = await receive(name);
  expect(mail.to).toEqual([{ name: '', address: ADDRESS }]);
  expect(mail.text).toMatch(/^Hello,\r?\n/);
  expect(mail.html).toMatch(/>\s*Hello,</);
  for (const part of [mail.text, mail.html]) expect(part).not.toContain(name);
});

test.for(['שרה לוי', 'محمد علي', 'Dr. Anne-Marie O’Neil Jr.', 'J. R. R. Tolkien', 'J.R.R.Tolkien'])(
  'a name of any language is in the greeting and in the address: %s',
  async (name) => {
    const mail = await receive(name);
    expect(mail.to).toEqual([{ name, address: ADDRESS }]);
    expect(mail.text).toContain(`Hello ${name},`);
  },
);

test('floodgate mail preview writes what would be sent, with made-up data', async () => {
  await using directory = await temporaryDirectory();
  const { code, output } = await runCli(
    { DATABASE_URL: given.database.url },
    'mail',
    'preview',
    String(given.gala.eventId),
    '--language',
    'de',
    '--out',
    directory.file('preview'),
  );
  expect([code, output.trim().split('\n')]).toEqual([
    0,
    ['mail.html', 'mail.txt', 'mail.eml'].map((name) => directory.file(`preview/${name}`)),
  ]);
  const mail = await PostalMime.parse(await readFile(directory.file('preview/mail.eml')));
  expect(mail.subject).toBe('Ihre Eintrittskarte: Gala');
  expect(await readFile(directory.file('preview/mail.html'), 'utf8')).toContain(
    'src="data:image/png;base64,',
  );
  expect(await readFile(directory.file('preview/mail.txt'), 'utf8')).toContain('Guten Tag Ada Lovelace');

  const ofNotice = ['preview', String(given.gala.eventId), '--notice', '--out', directory.file('notice')];
  expect(await runCli({ DATABASE_URL: given.database.url }, 'mail', ...ofNotice)).toMatchObject({ code: 0 });
  const notice = await PostalMime.parse(await readFile(directory.file('notice/mail.eml')));
  expect(notice.subject).toBe('Your webhook for Gala was disabled');
});
