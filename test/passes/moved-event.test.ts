import { createClient, verifyPass } from '@floodgate/client';
import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import PostalMime from 'postal-mime';
import { expect, onTestFinished } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { readQrCode } from '../harness/passes.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, enable, startMails } from '../mail/mail-process.ts';

const { test, given } = apiTest({ own: 'starts processes that work on everything in the database' });

const ATTENDEES = 40;
/** E-mails whose QR code is read. Reading takes much longer than verifying. */
const SAMPLE = 10;
const WEEK_MS = 7 * 86_400_000;

test('an event moves by a week: every pass that was e-mailed before opens the door with the new document', async () => {
  const [eventId, partnerId] = [given.gala.eventId, given.gala.partnerId];
  const startsAt = new Date(Date.now() + 2 * 86_400_000);
  const moveTo = (start: Date) => {
    const endsAt = new Date(start.getTime() + 4 * 3_600_000);
    return perform(given.database.db, updateEventAction, { eventId, startsAt: start, endsAt }, 'jane');
  };
  await moveTo(startsAt);
  await enable(given.database.db, given.gala);

  const client = createClient({ baseUrl: given.api.baseUrl, ...given.gala });
  onTestFinished(() => client.close());
  const ticketId = await given.gala.addTicket({ capacity: ATTENDEES });
  const guests = addresses(ATTENDEES, 'guest').map((emailAddress) => ({
    fullName: 'Jane Doe',
    emailAddress,
    organizedEventTicketID: ticketId,
  }));
  const result = await client.registerBulk(guests);
  await finalizePending(given.database.db, given.gala.shardId);
  const mailServer = await startMailServer();
  await startMails(given.database, { SMTP_URL: mailServer.url });
  await waitUntil('everybody has an e-mail', () => mailServer.mails.length === ATTENDEES);

  const items = result.code === '00' ? result.registrations : [];
  const tokens = await Promise.all(
    items.map(async (item) => {
      const pass = await client.pass(item.code === '00' ? item.passReference : item.code);
      return pass.code === '00' ? pass.pass.pass : pass.code;
    }),
  );
  expect(new Set(tokens).size).toBe(ATTENDEES);
  for (const { content } of mailServer.mails.slice(0, SAMPLE)) {
    const { attachments } = await PostalMime.parse(content);
    const picture = attachments.find(({ mimeType }) => mimeType === 'image/png')!;
    expect(tokens).toContain(readQrCode(new Uint8Array(picture.content as ArrayBuffer)));
  }

  const keys = await client.passKeys();
  const { pages: revocations } = await client.revokedPasses({ keys });
  const before = await client.signedEvent({ keys });
  const maxAgeSeconds = (2 * WEEK_MS) / 1_000;
  const check = (event: string, now: Date) => {
    const door = { keys, eventId, partnerId, event, revocations, maxAgeSeconds, now };
    return tokens.map((token) => verifyPass(token, door)).map((one) => (one.valid ? 'valid' : one.reason));
  };
  const all = (verdict: string) => Array<string>(ATTENDEES).fill(verdict);
  expect(check(before.document, startsAt)).toEqual(all('valid'));

  const movedTo = new Date(startsAt.getTime() + WEEK_MS);
  await moveTo(movedTo);
  const isNew = async () => (await client.signedEvent({ keys })).revision > before.revision;
  await expect.poll(isNew).toBe(true);
  const { document } = await client.signedEvent({ keys });
  expect(check(document, movedTo)).toEqual(all('valid'));
  expect(check(document, startsAt)).toEqual(all('not-yet-valid'));
  expect(check(before.document, movedTo)).toEqual(all('expired'));
});
